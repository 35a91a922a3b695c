package token

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"
)

// maxDate is the last second of the year 9999. A time after it is one in milliseconds, or an attempt at overflow.
const maxDate = 253402300799

// checkClaims checks the claims of a token whose signature and issuer are right, and returns its exp. exp comes last:
// a token counts as expired only if nothing else is wrong with it, because that answer is a friendlier one.
func (p *provider) checkClaims(claims map[string]any, now time.Time) (expires time.Time, err error) {
	expires, hasExpires, err := numericDate(claims, "exp")
	if err != nil || !hasExpires {
		return time.Time{}, p.refuse(Invalid, "its exp is missing or isn't a time")
	}
	notBefore, hasNotBefore, err := numericDate(claims, "nbf")
	if err != nil || hasNotBefore && now.Add(p.Leeway).Before(notBefore) {
		return time.Time{}, p.refuse(Invalid, "its nbf isn't a time that has come")
	}
	issued, hasIssued, err := numericDate(claims, "iat")
	if err != nil || hasIssued && now.Add(p.Leeway).Before(issued) {
		return time.Time{}, p.refuse(Invalid, "its iat isn't a time that has come")
	}
	if p.MaxLifetime > 0 && (!hasIssued || expires.Sub(issued) > p.MaxLifetime) {
		return time.Time{}, p.refuse(Invalid, "its lifetime, exp - iat, isn't known to be at most %s", p.MaxLifetime)
	}
	if len(p.Audiences) > 0 && !p.inAudience(claims["aud"]) {
		return time.Time{}, p.refuse(Invalid, "its aud isn't for this gateway")
	}
	if wrong := notText(claims); wrong != "" {
		return time.Time{}, p.refuse(Invalid, "its %s isn't a string", wrong)
	}
	if !now.Before(expires.Add(p.Leeway)) {
		return time.Time{}, p.refuse(Expired, "its exp is past")
	}
	return expires, nil
}

// notText returns the first of the claims that name an issuer, a subject or a token (RFC 7519, section 4.1) that is there and
// isn't a string; "" is none. It would pass for one that isn't there, and a token with such a jti couldn't be revoked by it.
// A null sub is one that isn't there: some issuers write it for a client that acts for nobody.
func notText(claims map[string]any) string {
	for _, name := range [...]string{"iss", "sub", "jti"} {
		claim, present := claims[name]
		if _, ok := claim.(string); present && !ok && (claim != nil || name != "sub") {
			return name
		}
	}
	return ""
}

// inAudience reports whether aud, a string or an array of strings (RFC 7519, section 4.1.3), names this gateway.
func (p *provider) inAudience(aud any) bool {
	switch aud := aud.(type) {
	case string:
		return slices.Contains(p.Audiences, aud)
	case []any:
		return slices.ContainsFunc(aud, func(element any) bool {
			name, ok := element.(string)
			return ok && slices.Contains(p.Audiences, name)
		})
	}
	return false
}

var errNotDate = errors.New("not a number of seconds from 1970 to 9999")

// numericDate reads a time claim (RFC 7519, section 2): a JSON number of seconds, fractions allowed. A claim that is
// present but isn't one is an error, also null.
func numericDate(claims map[string]any, name string) (date time.Time, present bool, err error) {
	claim, present := claims[name]
	if !present {
		return time.Time{}, false, nil
	}
	number, ok := claim.(json.Number)
	if !ok {
		return time.Time{}, true, errNotDate
	}
	seconds, err := number.Float64()
	if err != nil || seconds < 0 || seconds > maxDate {
		return time.Time{}, true, errNotDate
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)), true, nil
}
