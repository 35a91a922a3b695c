package token_test

import (
	"strings"
	"testing"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

func TestTheIssuerChoosesTheProvider(t *testing.T) {
	keys := map[string][]byte{}
	var providers []token.Provider
	for _, name := range []string{"a", "b"} {
		keys[name] = []byte(strings.Repeat(name, 32))
		providers = append(providers, token.Provider{
			Name: name, Issuer: "https://" + name, Algorithms: []string{"HS256"},
			Source: keyset.NewSet(verification(t, "1", keys[name])), // both use the kid 1
		})
	}
	closed := newVerifier(t, providers...)
	keys["any"] = []byte(strings.Repeat("*", 32))
	open := newVerifier(t, append(providers, token.Provider{
		Name: "any", AllowAnyIssuer: true, Algorithms: []string{"HS256"}, Source: keyset.NewSet(verification(t, "", keys["any"])),
	})...)
	signed := func(iss, by string) string {
		claims := map[string]any{"exp": 4102444800}
		if iss != "" {
			claims["iss"] = iss
		}
		return compact(t, `{"alg":"HS256","kid":"1"}`, toJSON(t, claims), keys[by], "HS256")
	}
	for name, row := range map[string]struct {
		verifier *token.Verifier
		raw      string
		pinned   string
		provider string // "" means that it is refused
	}{
		"a's token":                                    {closed, signed("https://a", "a"), "", "a"},
		"b's token":                                    {closed, signed("https://b", "b"), "", "b"},
		"b's token with a's iss":                       {closed, signed("https://a", "b"), "", ""},
		"an unknown iss":                               {closed, signed("https://c", "a"), "", ""},
		"an iss that differs by a slash":               {closed, signed("https://a/", "a"), "", ""},
		"an iss in upper case":                         {closed, signed("HTTPS://A", "a"), "", ""},
		"no iss":                                       {closed, signed("", "a"), "", ""},
		"a's token where the route wants a":            {closed, signed("https://a", "a"), "a", "a"},
		"a's token where the route wants b":            {closed, signed("https://a", "a"), "b", ""},
		"a's token with b's iss where b is wanted":     {closed, signed("https://b", "a"), "b", ""},
		"b's own token with a's iss where b is wanted": {closed, signed("https://a", "b"), "b", ""},
		"no iss where the route wants a":               {closed, signed("", "a"), "a", ""},
		"a provider that doesn't exist":                {closed, signed("https://a", "a"), "c", ""},
		"a's token beside one for any issuer":          {open, signed("https://a", "a"), "", "a"},
		"a's iss isn't tried with the key for any":     {open, signed("https://a", "any"), "", ""},
		"an unknown iss for any":                       {open, signed("https://c", "any"), "", "any"},
		"no iss for any":                               {open, signed("", "any"), "", "any"},
		"an unknown iss isn't tried with a's key":      {open, signed("https://c", "a"), "", ""},
		"any issuer where the route wants any":         {open, signed("https://c", "any"), "any", "any"},
	} {
		t.Run(name, func(t *testing.T) {
			want := token.Invalid
			if row.provider != "" {
				want = 0
			}
			if principal := expect(t, row.verifier, row.raw, row.pinned, want); principal != nil && principal.Provider != row.provider {
				t.Errorf("provider = %s, want %s", principal.Provider, row.provider)
			}
		})
	}
}

func TestAnIssOfAnotherTypeIsRefused(t *testing.T) {
	verifier := newVerifier(t, secretProvider(t))
	for _, iss := range []string{`["` + issuer + `"]`, `null`, `7`, `{}`} {
		raw := signedHS256(t, `{"iss":`+iss+`,"exp":4102444800}`)
		expect(t, verifier, raw, "", token.Invalid)
		expect(t, verifier, raw, "identity", token.Invalid)
	}
}

func TestProvidersThatCantWorkAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*token.Provider)
		want   string
	}{
		"no name":               {func(p *token.Provider) { p.Name = "" }, "no name"},
		"no issuer":             {func(p *token.Provider) { p.Issuer = "" }, "either an issuer or"},
		"an issuer and any":     {func(p *token.Provider) { p.AllowAnyIssuer = true }, "either an issuer or"},
		"no algorithms":         {func(p *token.Provider) { p.Algorithms = nil }, "no algorithms"},
		"none":                  {func(p *token.Provider) { p.Algorithms = []string{"none"} }, `unknown algorithm "none"`},
		"a lower-case name":     {func(p *token.Provider) { p.Algorithms = []string{"HS256", "rs256"} }, `unknown algorithm "rs256"`},
		"no keys":               {func(p *token.Provider) { p.Source = nil }, "no source of keys"},
		"negative leeway":       {func(p *token.Provider) { p.Leeway = -1 }, "negative"},
		"negative max lifetime": {func(p *token.Provider) { p.MaxLifetime = -1 }, "negative"},
		"the same name":         {func(p *token.Provider) { p.Issuer = "https://other" }, "name is taken"},
		"the same issuer":       {func(p *token.Provider) { p.Name = "other" }, "issuer is provider identity's"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := secretProvider(t)
			row.change(&changed)
			_, err := token.NewVerifier([]token.Provider{secretProvider(t), changed})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error = %v, want %q", err, row.want)
			}
		})
	}
	anyIssuer := token.Provider{Name: "x", AllowAnyIssuer: true, Algorithms: []string{"HS256"}, Source: keyset.NewSet()}
	other := anyIssuer
	other.Name = "y"
	if _, err := token.NewVerifier([]token.Provider{anyIssuer, other}); err == nil {
		t.Error("two providers allow any issuer")
	}
}
