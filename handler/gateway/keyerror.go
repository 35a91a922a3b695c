package gateway

import (
	"errors"

	"gatehouse/helper/config"
)

// KeyError is a problem of one key of the configuration that showed only when
// it was compiled.
type KeyError struct {
	Key string // such as auth.providers.identity.public_key_file
	Err error
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// Located gives a KeyError its line in the text of the configuration, and
// returns another error as it is.
func Located(err error, file string, text []byte) error {
	var wrong *KeyError
	if !errors.As(err, &wrong) {
		return err
	}
	return config.Locate(file, text, wrong.Err, wrong.Key)
}
