package command

import (
	"crypto"
	"fmt"
	"maps"
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
	ttl                                                                 duration
}

func (p Process) token() *cobra.Command {
	f := tokenFlags{ttl: duration(time.Hour)}
	cmd := &cobra.Command{
		Use:   "token [FILE]",
		Short: "Mint a token for development",
		Long: `token signs a JSON Web Token and prints it. The key is --key or --secret; without them, the secret of a provider of the
config. Issuer, audience and algorithm are those of a provider of the config, FILE or ./config.yaml, where no flag says otherwise.
With --key or --secret, no config is needed.

A provider with discovery or jwks_url keeps its private key to itself: get a token from it. The one of gatehouse demo, which
the shipped config.yaml is for, issues them to anybody: curl 'http://127.0.0.1:9003/token?user=ada&scope=order&format=raw'`,
		Example: `  gatehouse keys new --out id.pem
  gatehouse token --key id.pem --sub ada --scope order             issuer and audience: those of ./config.yaml, if it is there
  gatehouse token --key id.pem --issuer https://identity.example.com --audience gateway --scope "order user" --claim level=3
  gatehouse token --key id.pem --bad expired                       one that a gateway must refuse
  curl -H "Authorization: Bearer $(gatehouse token --key id.pem --scope order)" http://127.0.0.1:8080/order`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if f.config, err = named(f.config, args); err != nil {
				return err
			}
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
	flags.Var(&f.ttl, "ttl", "how long it is valid; negative: it has expired already")
	flags.StringVar(&f.issuer, "issuer", "", "the claim iss")
	flags.StringArrayVar(&f.audiences, "audience", nil, "the claim aud; repeatable")
	flags.StringVar(&f.secret, "secret", "", "sign with this shared `SECRET` (HS256 or what --alg says)")
	flags.StringVar(&f.key, "key", "", "sign with the private key of this PEM `FILE`")
	flags.StringVar(&f.kid, "kid", "", "the header kid (default: the key's RFC 7638 thumbprint; none with a secret)")
	flags.StringVar(&f.algorithm, "alg", "", "the `ALGORITHM`, such as RS256 (default: the provider's or the key's)")
	flags.StringVar(&f.provider, "provider", "", "the `NAME` of a provider of the config (default: its only one)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.bad, "bad", "", "make one that must be refused: "+strings.Join(token.BadKinds(), ", "))
	completes(cmd, "alg", keyset.Algorithms)
	completes(cmd, "bad", token.BadKinds)
	completes(cmd, "provider", func() []string {
		cfg, _, err := p.loadConfig(f.config)
		if err != nil { // then nothing is known to complete
			return nil
		}
		return slices.Sorted(maps.Keys(cfg.Auth.Providers))
	})
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
	cfg, file, err := p.loadConfig(f.config)
	asked := f.config != "" || f.provider != "" || f.secret == "" && f.key == ""
	switch {
	case asked && err != nil:
		return "", fmt.Errorf("%w (a token needs --key, --secret or a provider of a config)", err)
	case asked, err == nil && len(cfg.Auth.Providers) == 1: // else the flags are all there is
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
