package demo

import (
	"crypto"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

const (
	algorithm   = "ES256"
	audience    = "gateway"
	usualTTL    = 15 * time.Minute
	longestTTL  = 24 * time.Hour
	emailDomain = "@example.com"
)

// Identity is an issuer of tokens with one key, which it made itself.
type Identity struct {
	issuer string
	key    crypto.Signer
	jwk    keyset.JWK
}

// NewIdentity makes an identity service; issuer is its URL and the tokens' iss.
func NewIdentity(issuer string) (*Identity, error) {
	key, err := keyset.Generate(algorithm)
	if err != nil {
		return nil, fmt.Errorf("making the identity service's key: %w", err)
	}
	jwk, err := keyset.NewJWK(key.Public(), algorithm)
	if err != nil {
		return nil, fmt.Errorf("publishing the identity service's key: %w", err)
	}
	return &Identity{issuer: issuer, key: key, jwk: jwk}, nil
}

// Handler serves the token endpoint, the key set (RFC 7517) and the discovery document (OpenID Connect Discovery 1.0).
func (i *Identity) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /token", i.token)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { // for gatehouse health
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, keyset.JWKS{Keys: []keyset.JWK{i.jwk}})
	})
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{
			"issuer":                                i.issuer,
			"jwks_uri":                              i.issuer + "/.well-known/jwks.json",
			"token_endpoint":                        i.issuer + "/token",
			"id_token_signing_alg_values_supported": []string{algorithm},
			"subject_types_supported":               []string{"public"},
			"response_types_supported":              []string{"token"},
		})
	})
	return mux
}

// token issues a token for the parameters user, scope (both as the caller likes) and ttl. It answers as RFC 6749 section
// 5 says, or, to format=raw, with the bare token.
func (i *Identity) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	user, scope := r.FormValue("user"), r.FormValue("scope")
	ttl := usualTTL
	if text := r.FormValue("ttl"); text != "" {
		var err error
		if ttl, err = time.ParseDuration(text); err != nil || ttl > longestTTL || ttl < -longestTTL {
			refuse(w, "ttl must be a duration of at most 24h, such as 5m")
			return
		}
	}
	if user == "" {
		refuse(w, "user is needed, such as /token?user=ada&scope=order+user")
		return
	}
	now := time.Now()
	raw, err := token.Sign(map[string]any{
		"iss": i.issuer, "sub": user, "aud": audience, "jti": rand.Text(), "email": user + emailDomain, "scope": scope,
		"iat": now.Add(min(ttl, 0)).Unix(), "exp": now.Add(ttl).Unix(),
	}, i.key, algorithm, i.jwk.ID)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
		return
	}
	if r.FormValue("format") == "raw" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, raw+"\n") // a caller that left is seen by the server
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": raw, "token_type": "Bearer", "expires_in": max(0, int(ttl.Seconds())), "scope": scope,
	})
}

func refuse(w http.ResponseWriter, why string) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request", "error_description": why})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the values here always encode; a caller that left is seen by the server
}
