package gateway

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/apikey"
	"gatehouse/helper/assertion"
	"gatehouse/helper/config"
	"gatehouse/helper/keyset"
	"gatehouse/helper/revocation"
	"gatehouse/helper/watch"
)

// watched reads a file now, and again whenever it changes, as long as a
// snapshot wants the part. A content that take refuses later is logged, and
// leaves what was there.
func (b *builder) watched(path string, take func(content []byte) error) (end func(), err error) {
	content, err := watch.Read(path)
	if err != nil {
		return nil, err
	}
	if err := take(content); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	log := b.deps.Log.With(zap.String("file", path))
	return running(watch.New(watch.Options{
		Path: path, Content: content,
		Changed: func(content []byte) {
			if err := take(content); err != nil {
				log.Error("a changed file is refused; what was there stays", zap.Error(err))
				return
			}
			log.Info("a changed file was read")
		},
		Failed: func(err error) { log.Error("a file can't be read; what was there stays", zap.Error(err)) },
	}).Run), nil
}

// apiKeys makes the store of the keys of the configuration and of their file.
func (b *builder) apiKeys() (*apikey.Store, error) {
	section := b.cfg.Auth.APIKeys
	if !hasAPIKeys(section) {
		return nil, nil
	}
	keep(b, b.deps.Observer.Provider(apikey.Provider))
	const at = "auth.api_keys"
	same := config.Hash(&config.Config{Auth: config.Auth{APIKeys: section}, Plans: b.cfg.Plans})
	store, err := shared(b, "api keys "+same, func() (*apikey.Store, func(), error) {
		own, err := keysOf(section.Keys)
		if err != nil {
			return nil, nil, &KeyError{Key: at + ".keys", Err: err}
		}
		store, err := apikey.NewStore(own)
		if err != nil {
			return nil, nil, &KeyError{Key: at + ".keys", Err: err}
		}
		if section.File == "" {
			return store, nil, nil
		}
		end, err := b.watched(section.File, func(content []byte) error {
			listed, err := config.ParseAPIKeys(section.File, content, b.cfg.Plans)
			if err != nil {
				return err
			}
			more, err := keysOf(listed)
			if err != nil {
				return err
			}
			if err := store.Replace(append(own[:len(own):len(own)], more...)); err != nil {
				return err
			}
			b.replaced(store)
			return nil
		})
		if err != nil {
			return nil, nil, &KeyError{at + ".file", err, "write the file of a list of keys such as - {id: ada, sha256: ...}, no two alike"}
		}
		return store, end, nil
	})
	b.snapshot.apiKeys = store
	return store, err
}

// countClients gives the API keys that are served their series. It waits until
// they are: a configuration that is refused in the end leaves those that were.
func (g *Gateway) countClients() {
	var ids []string
	if store := g.current.Load().apiKeys; store != nil {
		ids = store.IDs()
	}
	g.deps.Observer.Clients(ids)
}

func keysOf(list []config.APIKey) ([]apikey.Key, error) {
	keys := make([]apikey.Key, len(list))
	for i, k := range list {
		hash, err := apikey.ParseHash(k.SHA256)
		if err != nil {
			return nil, fmt.Errorf("API key %s: %w", k.ID, err)
		}
		keys[i] = apikey.Key{ID: k.ID, Hash: hash, Scopes: k.Scopes, Plan: k.Plan, Expires: k.Expires.Time}
	}
	return keys, nil
}

// revocations keeps the list up to date with its file.
func (b *builder) revocations() error {
	path, list := b.cfg.Auth.Revoked.File, b.revoked
	if path == "" {
		return nil
	}
	_, err := shared(b, "revoked "+path, func() (*revocation.List, func(), error) {
		end, err := b.watched(path, func(content []byte) error {
			names, err := revocation.ParseFile(content)
			if err == nil {
				list.SetFile(path, names)
			}
			return err
		})
		if err != nil {
			return nil, nil, &KeyError{"auth.revoked.file", err, "write one entry a line"}
		}
		return list, func() { end(); list.SetFile(path, nil) }, nil
	})
	return err
}

// minter makes what signs the assertions; nil: there are none.
func (b *builder) minter() (*assertion.Minter, error) {
	section := b.cfg.Auth.Assertion
	if section == nil {
		return nil, nil
	}
	keyring, err := shared(b, "assertion key "+section.KeyFile, func() (*assertion.Keyring, func(), error) {
		if section.KeyFile == "" {
			keyring, err := assertion.NewKeyring()
			return keyring, nil, err
		}
		keyring := &assertion.Keyring{}
		end, err := b.watched(section.KeyFile, func(content []byte) error {
			private, err := keyset.ParsePrivatePEM(content)
			if err != nil {
				return err
			}
			return keyring.Rotate(private)
		})
		if err != nil {
			return nil, nil, &KeyError{"auth.assertion.key_file", err, "make one with gatehouse keys new --alg EdDSA"}
		}
		return keyring, end, nil
	})
	if err != nil {
		return nil, err
	}
	b.snapshot.keyring = keyring
	options := assertion.Options{TTL: time.Duration(section.TTL), PerRequest: section.PerRequest}
	return assertion.NewMinter(keyring, options), nil
}

// Revoked is what is refused before it expires. It outlives every reload.
func (g *Gateway) Revoked() *revocation.List { return g.revoked }

// AssertionKeys are the keys with which the gateway's own assertions can be
// verified.
func (g *Gateway) AssertionKeys() keyset.JWKS {
	if keyring := g.current.Load().keyring; keyring != nil {
		return keyring.JWKS()
	}
	return (&assertion.Keyring{}).JWKS()
}
