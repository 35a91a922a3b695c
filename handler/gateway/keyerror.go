package gateway

import (
	"errors"

	"gatehouse/helper/config"
)

// KeyError is a problem of one key of the configuration that showed only when
// it was compiled.
type KeyError struct {
	Key    string // such as auth.providers.identity.public_key_file
	Err    error
	Remedy string // what to write, for an error that isn't that the file can't be read
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// found is the problem, or each of those that the file has which the key names.
func (e *KeyError) found() (found []config.Found) {
	if inside := new(config.Problems); errors.As(e.Err, &inside) {
		for _, one := range *inside {
			found = append(found, config.Found{Key: e.Key, Message: one.String()})
		}
		return found
	}
	remedy := config.LookedFor(e.Err)
	if remedy == "" && e.Remedy != "" {
		remedy = ": " + e.Remedy
	}
	return []config.Found{{Key: e.Key, Message: e.Err.Error() + remedy}}
}

// Located gives each KeyError that is joined in an error its line in the text of
// the configuration. An error without any is returned as it is.
func Located(err error, file string, text []byte) error {
	if err == nil {
		return nil
	}
	var found []config.Found
	var others config.Problems
	located := false
	for _, one := range separate(err) {
		var wrong *KeyError
		var problems *config.Problems
		switch {
		case errors.As(one, &wrong):
			found = append(found, wrong.found()...)
		case errors.As(one, &problems):
			others = append(others, *problems...)
		default:
			others = append(others, config.Problem{File: file, Message: one.Error()})
			continue
		}
		located = true
	}
	if !located {
		return err
	}
	all := &config.Problems{}
	errors.As(config.Locate(file, text, found...), &all)
	*all = append(*all, others...)
	return all
}

// separate takes apart what errors.Join has joined.
func separate(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error }) // the joint itself is looked for, not what is in it
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, separate(one)...)
	}
	return all
}
