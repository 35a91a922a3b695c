package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
)

// ParseAPIKeys decodes and validates the list of the file that auth.api_keys.file names, as strictly as Parse does a config;
// but nothing in it is replaced from the environment. plans are the config's. Its error is a *Problems.
func ParseAPIKeys(name string, text []byte, plans map[string]Plan) ([]APIKey, error) {
	r := newReport(name)
	r.remedy = "write a list of keys such as - {id: ada, sha256: ...}, or [] for none"
	root := r.parseYAML(text)
	if root == nil {
		return nil, r.err()
	}
	var keys []APIKey
	unset := func(string) (string, bool) { return "", false }
	newDecoder(r, unset).decode(root, nil, reflect.ValueOf(&keys).Elem(), place{})
	validateAPIKeys(keys, section{r, ""}, plans)
	if err := r.err(); err != nil {
		return nil, err
	}
	return keys, nil
}

// Found is a problem that a key of a file has, found only after the file was parsed.
type Found struct{ Key, Message string }

// Locate gives problems their lines: a file that a key names can't be used, for example. Where text doesn't have a key, the line
// is that of what would have it. The error is a *Problems.
func Locate(name string, text []byte, found ...Found) error {
	r := newReport(name)
	if root := r.parseYAML(text); root != nil {
		anything := func(string) (string, bool) { return "", true }
		newDecoder(r, anything).decode(root, nil, reflect.ValueOf(&Config{}).Elem(), place{})
	}
	r.problems = nil
	for _, f := range found {
		where := r.place(f.Key)
		r.add(where.line, where.column, f.Key, f.Message)
	}
	return r.err()
}

// LookedFor completes an error about a file with what can be done, and one about a file that isn't there with where a relative path
// led. It is "" for every other error.
func LookedFor(err error) string {
	missing := new(fs.PathError)
	switch {
	case !errors.As(err, &missing):
		return ""
	case errors.Is(missing, fs.ErrPermission):
		return ": give the user that gatehouse runs as the right to it"
	case !errors.Is(missing, fs.ErrNotExist):
		return ": write the path of a file that can be read"
	}
	if filepath.IsAbs(missing.Path) {
		return ": put it there, or correct the path"
	}
	absolute, err := filepath.Abs(missing.Path)
	if err != nil { // there is no working directory any more
		return ": write an absolute path"
	}
	return ", looked for at " + absolute + ": a relative path begins in the working directory; put the file there, or write an absolute path"
}
