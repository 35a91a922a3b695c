package token_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/helper/token"
)

func TestTimesOfATokenAreChecked(t *testing.T) {
	const expired, invalid, accepted = token.Expired, token.Invalid, token.Reason(0)
	for name, row := range map[string]struct {
		claims      string // $+30 is now and 30 seconds
		leeway      time.Duration
		maxLifetime time.Duration
		want        token.Reason
	}{
		"exp to come":                            {`"exp":$+1`, 0, 0, accepted},
		"exp now":                                {`"exp":$+0`, 0, 0, expired},
		"exp past":                               {`"exp":$-10`, 0, 0, expired},
		"exp past within the leeway":             {`"exp":$-29`, 30 * time.Second, 0, accepted},
		"exp past by the leeway":                 {`"exp":$-30`, 30 * time.Second, 0, expired},
		"exp with a fraction to come":            {`"exp":$+0.5`, 0, 0, accepted},
		"exp with a fraction past":               {`"exp":$-0.5`, 0, 0, expired},
		"exp with an exponent":                   {`"exp":1.9e9`, 0, 0, accepted},
		"exp in the last second of 9999":         {`"exp":253402300799`, 0, 0, accepted},
		"exp of 0":                               {`"exp":0`, 0, 0, expired},
		"no exp":                                 {`"sub":"ada"`, 0, 0, invalid},
		"exp as a string":                        {`"exp":"4102444800"`, 0, 0, invalid},
		"exp null":                               {`"exp":null`, 0, 0, invalid},
		"exp true":                               {`"exp":true`, 0, 0, invalid},
		"exp in an array":                        {`"exp":[4102444800]`, 0, 0, invalid},
		"exp too big for a float":                {`"exp":1e400`, 0, 0, invalid},
		"exp too big for an int64":               {`"exp":9223372036854775808`, 0, 0, invalid},
		"exp in milliseconds":                    {`"exp":253402300800999`, 0, 0, invalid},
		"exp negative":                           {`"exp":-1`, 0, 0, invalid},
		"exp hugely negative":                    {`"exp":-1e300`, 0, 0, invalid},
		"nbf past":                               {`"exp":$+60,"nbf":$-1`, 0, 0, accepted},
		"nbf now":                                {`"exp":$+60,"nbf":$+0`, 0, 0, accepted},
		"nbf to come":                            {`"exp":$+60,"nbf":$+10`, 0, 0, invalid},
		"nbf to come within the leeway":          {`"exp":$+60,"nbf":$+10`, 30 * time.Second, 0, accepted},
		"nbf as a string":                        {`"exp":$+60,"nbf":"0"`, 0, 0, invalid},
		"iat to come":                            {`"exp":$+60,"iat":$+10`, 0, 0, invalid},
		"iat to come within the leeway":          {`"exp":$+60,"iat":$+10`, 30 * time.Second, 0, accepted},
		"iat an hour to come":                    {`"exp":$+7200,"iat":$+3600`, 30 * time.Second, 0, invalid},
		"iat null":                               {`"exp":$+60,"iat":null`, 0, 0, invalid},
		"a lifetime that is just allowed":        {`"exp":$+50,"iat":$-10`, 0, time.Minute, accepted},
		"a lifetime that is too long":            {`"exp":$+51,"iat":$-10`, 0, time.Minute, invalid},
		"a lifetime that isn't known":            {`"exp":$+50`, 0, time.Minute, invalid},
		"leeway doesn't lengthen the lifetime":   {`"exp":$+51,"iat":$-10`, 30 * time.Second, time.Minute, invalid},
		"exp and nbf wrong isn't called expired": {`"exp":$-10,"nbf":$+10`, 0, 0, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := secretProvider(t)
				provider.Leeway, provider.MaxLifetime = row.leeway, row.maxLifetime
				expect(t, newVerifier(t, provider), signedHS256(t, `{"iss":"`+issuer+`",`+atNow(t, row.claims)+`}`), "", row.want)
			})
		})
	}
}

// atNow puts times in the place of $+1.
func atNow(t *testing.T, claims string) string {
	t.Helper()
	var text []byte
	for i := 0; i < len(claims); i++ {
		if claims[i] != '$' {
			text = append(text, claims[i])
			continue
		}
		end := i + 2
		for end < len(claims) && (claims[end] == '.' || '0' <= claims[end] && claims[end] <= '9') {
			end++
		}
		offset, err := strconv.ParseFloat(claims[i+1:end], 64)
		if err != nil {
			t.Fatal(err)
		}
		text = fmt.Appendf(text, "%.1f", float64(time.Now().Unix())+offset)
		i = end - 1
	}
	return string(text)
}

func TestATokenExpiresAsTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := secretProvider(t)
		provider.Leeway = 30 * time.Second
		verifier := newVerifier(t, provider)
		raw := signedHS256(t, fmt.Sprintf(`{"iss":%q,"exp":%d}`, issuer, time.Now().Add(time.Minute).Unix()))
		principal := expect(t, verifier, raw, "", 0)
		if want := time.Now().Add(time.Minute); !principal.Expires.Equal(want) {
			t.Errorf("Expires = %v, want %v", principal.Expires, want)
		}
		time.Sleep(90*time.Second - 1) // the bubble's clock jumps
		expect(t, verifier, raw, "", 0)
		time.Sleep(time.Nanosecond)
		expect(t, verifier, raw, "", token.Expired)
	})
}

func TestATokenIsCalledExpiredOnlyIfAllElseIsRight(t *testing.T) {
	provider := secretProvider(t)
	provider.Audiences = []string{"gateway"}
	verifier := newVerifier(t, provider)
	expired := func(iss, aud, sub string) string {
		return fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":%s,"exp":1000}`, iss, aud, sub)
	}
	expect(t, verifier, signedHS256(t, expired(issuer, "gateway", `"ada"`)), "", token.Expired)
	expect(t, verifier, flipSignature(signedHS256(t, expired(issuer, "gateway", `"ada"`))), "", token.Invalid)
	expect(t, verifier, signedHS256(t, expired(issuer, "other", `"ada"`)), "", token.Invalid)
	expect(t, verifier, signedHS256(t, expired("https://other", "gateway", `"ada"`)), "", token.Invalid)
	expect(t, verifier, signedHS256(t, expired(issuer, "gateway", "7")), "", token.Invalid)
}
