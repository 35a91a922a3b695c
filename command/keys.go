package command

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/helper/apikey"
	"gatehouse/helper/keyset"
)

func (p Process) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make keys and publish them",
		Args:  p.noCommand,
		RunE: func(*cobra.Command, []string) error {
			return usagef("keys: say which: new, jwks or api")
		},
	}
	cmd.AddCommand(newKey(), printJWKS(), newAPIKey())
	return cmd
}

func newKey() *cobra.Command {
	var algorithm, out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a key pair",
		Long: `new makes a key pair. The private key goes to FILE (PEM, PKCS#8, for its owner only), the public key to FILE.pub (PEM,
for public_key_file), and the public key's JWKS to the standard output. A file that is there already is never overwritten.`,
		Example: `  gatehouse keys new --alg ES256 --out id.pem       and in config.yaml: public_key_file: id.pem.pub
  gatehouse token --key id.pem --sub ada --scope order`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("keys new: --out FILE is needed, for the private key")
			}
			if !slices.Contains(pairAlgorithms(), algorithm) {
				return usagef("keys new: there are no key pairs for --alg %q: use RS, PS or ES with 256, 384 or 512, or EdDSA", algorithm)
			}
			private, err := keyset.Generate(algorithm)
			if err != nil {
				return fmt.Errorf("making a key for %s: %w", algorithm, err)
			}
			if err := writePair(out, private); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: the private key; %s.pub: the public key\n", out, out)
			jwk, err := keyset.NewJWK(private.Public(), algorithm)
			if err != nil {
				return fmt.Errorf("%s: %w", out, err)
			}
			return writeJWKS(cmd.OutOrStdout(), []keyset.JWK{jwk})
		},
	}
	cmd.Flags().StringVar(&algorithm, "alg", "ES256", "the `ALGORITHM`: RS256 ... RS512, PS256 ..., ES256 ... or EdDSA")
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` for the private key")
	completes(cmd, "alg", pairAlgorithms)
	return cmd
}

// pairAlgorithms are those that have a key pair.
func pairAlgorithms() []string {
	return slices.DeleteFunc(slices.Clone(keyset.Algorithms()), func(name string) bool { return strings.HasPrefix(name, "HS") })
}

func newAPIKey() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Make an API key",
		Long: `api makes an API key of 256 random bits and prints it, with its SHA-256 for auth.api_keys. The key goes to the caller; it
is shown this once and kept nowhere.`,
		Example: `  gatehouse keys api
  curl -H "X-API-Key: gh_..." http://127.0.0.1:8080/order`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, hash := apikey.Generate()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "key: %s\nsha256: %s\n", key, hash)
			return err
		},
	}
}

func writePair(out string, private crypto.Signer) error {
	secret, err := keyset.MarshalPrivatePEM(private)
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	public, err := keyset.MarshalPublicPEM(private.Public())
	if err != nil {
		return fmt.Errorf("%s.pub: %w", out, err)
	}
	if err := writeNew(out, secret, 0o600); err != nil {
		return err
	}
	return writeNew(out+".pub", public, 0o644)
}

// writeNew writes a file that wasn't there before.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	return nil
}

func printJWKS() *cobra.Command {
	return &cobra.Command{
		Use:     "jwks FILE...",
		Short:   "Print the public keys of PEM files as a JSON Web Key Set (RFC 7517)",
		Example: `  gatehouse keys jwks id.pem.pub > jwks.json`,
		Args:    takes(1, anyNumber),
		RunE: func(cmd *cobra.Command, files []string) error {
			var all []keyset.JWK
			for _, file := range files {
				jwks, err := fileJWKs(file)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				all = append(all, jwks...)
			}
			return writeJWKS(cmd.OutOrStdout(), all)
		},
	}
}

// fileJWKs describes the public keys of a PEM file, or the public half of its private key.
func fileJWKs(file string) ([]keyset.JWK, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if private, err := keyset.ParsePrivatePEM(data); err == nil {
		jwk, err := keyset.NewJWK(private.Public(), "")
		return []keyset.JWK{jwk}, err
	}
	keys, err := keyset.ParsePEM(data)
	if err != nil {
		return nil, err
	}
	jwks := make([]keyset.JWK, 0, len(keys))
	for _, key := range keys {
		public, _ := key.Public() // a PEM file has no secrets
		jwk, err := keyset.NewJWK(public, "")
		if err != nil {
			return nil, err
		}
		jwks = append(jwks, jwk)
	}
	return jwks, nil
}

func writeJWKS(w io.Writer, keys []keyset.JWK) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(keyset.JWKS{Keys: keys})
}
