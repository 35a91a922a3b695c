package command

import (
	"crypto"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// tokenFlags are the flags of the command token.
type tokenFlags struct {
	subject, issuer, secret, key, kid, algorithm, bad, provider, config string
	scopes, audiences, claims                                           []string
	ttl                                                                 time.Duration
}

func (p Process) token() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Mint a token for development",
		Long: `token signs a JSON Web Token and prints it. The key is --key or --secret; without them, the secret of a provider of the
config. With --config or --provider, issuer, audience and algorithm are that provider's too, where no flag says otherwise.`,
		Example: `  gatehouse token --key identity.pem --issuer https://identity.example.com --audience gateway --sub ada --scope order
  gatehouse token --config config.yaml --sub ada --scope "order user" --claim tenant=acme --claim 'level=3'
  gatehouse token --key identity.pem --sub ada --bad expired        one that a gateway must refuse
  curl -H "Authorization: Bearer $(gatehouse token --sub ada --scope order)" http://127.0.0.1:8080/order`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			raw, err := p.mint(f)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), raw)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.subject, "sub", "ada", "the `SUBJECT`")
	flags.StringArrayVar(&f.scopes, "scope", nil, "`SCOPES`, separated by spaces; repeatable")
	flags.StringArrayVar(&f.claims, "claim", nil, "a further claim `NAME=VALUE`; the value is JSON if it can be, else a string; repeatable")
	flags.DurationVar(&f.ttl, "ttl", time.Hour, "how long it is valid; negative: it has expired already")
	flags.StringVar(&f.issuer, "issuer", "", "the claim iss")
	flags.StringArrayVar(&f.audiences, "audience", nil, "the claim aud; repeatable")
	flags.StringVar(&f.secret, "secret", "", "sign with this shared `SECRET` (HS256 or what --alg says)")
	flags.StringVar(&f.key, "key", "", "sign with the private key of this PEM `FILE`")
	flags.StringVar(&f.kid, "kid", "", "the header kid (default: the key's RFC 7638 thumbprint; none with a secret)")
	flags.StringVar(&f.algorithm, "alg", "", "the `ALGORITHM`, such as RS256 (default: the provider's or the key's)")
	flags.StringVar(&f.provider, "provider", "", "the `NAME` of a provider of the config (default: its only one)")
	flags.StringVar(&f.config, "config", "", "the config `FILE`")
	flags.StringVar(&f.bad, "bad", "", "make one that must be refused: "+strings.Join(token.BadKinds(), ", "))
	return cmd
}

// signer is what a token is signed with.
type signer struct {
	key       any // crypto.Signer or []byte, as token.Sign wants it
	algorithm string
	kid       string
}

// mint makes the token that the flags describe.
func (p Process) mint(f tokenFlags) (string, error) {
	if f.secret != "" && f.key != "" {
		return "", usagef("token: --secret and --key exclude each other")
	}
	if f.bad != "" && !slices.Contains(token.BadKinds(), f.bad) {
		return "", usagef("token: there is no --bad %s, only %s", f.bad, strings.Join(token.BadKinds(), ", "))
	}
	if f.algorithm != "" && !slices.Contains(keyset.Algorithms(), f.algorithm) {
		return "", usagef("token: there is no --alg %s, only %s", f.algorithm, strings.Join(keyset.Algorithms(), ", "))
	}
	issuer := issuer{Issuer: f.issuer, Audiences: f.audiences, ScopeClaim: "scope", Secret: f.secret}
	if f.config != "" || f.provider != "" || f.secret == "" && f.key == "" {
		cfg, file, err := p.loadConfig(f.config)
		if err != nil {
			return "", fmt.Errorf("%w (a token needs --key, --secret or a provider of a config)", err)
		}
		if issuer, err = f.fromConfig(cfg, file); err != nil {
			return "", err
		}
	}
	with, err := f.signer(issuer)
	if err != nil {
		return "", err
	}
	claims, err := f.allClaims(issuer, time.Now())
	if err != nil {
		return "", err
	}
	if f.bad == "" {
		return token.Sign(claims, with.key, with.algorithm, with.kid)
	}
	if f.bad == "no-scope" { // wherever the provider has it
		delete(claims, issuer.ScopeClaim)
	}
	return token.Bad(f.bad, claims, with.key, with.algorithm, with.kid)
}

// signer finds the key: the flags', else the provider's secret.
func (f tokenFlags) signer(from issuer) (signer, error) {
	if f.key == "" {
		return signer{[]byte(from.Secret), f.chosen(from, "HS256", func(name string) bool { return strings.HasPrefix(name, "HS") }), f.kid}, nil
	}
	private, err := keyset.LoadPrivatePEM(f.key)
	if err != nil {
		return signer{}, err
	}
	usual, err := keyset.SigningAlgorithm(private)
	if err != nil {
		return signer{}, fmt.Errorf("%s: %w", f.key, err)
	}
	kid := f.kid
	if kid == "" {
		if kid, err = keyset.Thumbprint(private.Public()); err != nil {
			return signer{}, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return signer{private, f.chosen(from, usual, fits(private.Public())), kid}, nil
}

// chosen is the algorithm of the flags, else the first of the provider's that the key can be used with, else the key's own.
func (f tokenFlags) chosen(from issuer, usual string, fits func(string) bool) string {
	if f.algorithm != "" {
		return f.algorithm
	}
	if i := slices.IndexFunc(from.Algorithms, fits); i >= 0 {
		return from.Algorithms[i]
	}
	return usual
}

func fits(public crypto.PublicKey) func(algorithm string) bool {
	key, err := keyset.NewPublic("", "", public)
	return func(algorithm string) bool { return err == nil && key.Fits(algorithm) }
}
