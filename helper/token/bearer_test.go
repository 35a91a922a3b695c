package token_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/helper/token"
)

func TestABearerTokenIsFoundInTheHeader(t *testing.T) {
	for name, row := range map[string]struct {
		lines []string
		token string
		state token.BearerState
	}{
		"no header":                         {nil, "", token.BearerNone},
		"a token":                           {[]string{"Bearer a.b-c_d~e+f/g=="}, "a.b-c_d~e+f/g==", token.BearerOK},
		"the scheme in lower case":          {[]string{"bearer T"}, "T", token.BearerOK},
		"the scheme in upper case":          {[]string{"BEARER T"}, "T", token.BearerOK},
		"several spaces":                    {[]string{"Bearer   T"}, "T", token.BearerOK},
		"an empty line":                     {[]string{""}, "", token.BearerNone},
		"another scheme":                    {[]string{"Basic YTpi"}, "", token.BearerNone},
		"a scheme that begins so":           {[]string{"BearerT"}, "", token.BearerNone},
		"a scheme that begins so, and more": {[]string{"Bearer-2 T"}, "", token.BearerNone},
		"a space in front":                  {[]string{" Bearer T"}, "", token.BearerNone},
		"the scheme alone":                  {[]string{"Bearer"}, "", token.BearerMalformed},
		"the scheme and a space":            {[]string{"Bearer "}, "", token.BearerMalformed},
		"a tab":                             {[]string{"Bearer\tT"}, "", token.BearerMalformed},
		"a space and a tab":                 {[]string{"Bearer \tT"}, "", token.BearerMalformed},
		"a space at the end":                {[]string{"Bearer T "}, "", token.BearerMalformed},
		"two tokens":                        {[]string{"Bearer T x"}, "", token.BearerMalformed},
		"a list":                            {[]string{"Bearer T, Bearer U"}, "", token.BearerMalformed},
		"a list without spaces":             {[]string{"Bearer T,U"}, "", token.BearerMalformed},
		"a slash for a space":               {[]string{"Bearer/T"}, "", token.BearerMalformed},
		"a colon":                           {[]string{"Bearer: T"}, "", token.BearerMalformed},
		"quotes":                            {[]string{`Bearer "T"`}, "", token.BearerMalformed},
		"equals signs alone":                {[]string{"Bearer =="}, "", token.BearerMalformed},
		"an equals sign inside":             {[]string{"Bearer a=b"}, "", token.BearerMalformed},
		"a letter that isn't ASCII":         {[]string{"Bearer é"}, "", token.BearerMalformed},
		"two lines":                         {[]string{"Bearer T", "Bearer U"}, "", token.BearerDuplicate},
		"the same line twice":               {[]string{"Bearer T", "Bearer T"}, "", token.BearerDuplicate},
		"an empty line and a token":         {[]string{"", "Bearer T"}, "", token.BearerDuplicate},
		"a token beside Basic":              {[]string{"Basic YTpi", "Bearer T"}, "", token.BearerDuplicate},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Authorization": row.lines}
			if got, state := token.Bearer(header); got != row.token || state != row.state {
				t.Errorf("Bearer(%q) = %q, %v, want %q, %v", row.lines, got, state, row.token, row.state)
			}
		})
	}
}

func TestFindingABearerTokenAllocatesNothing(t *testing.T) {
	header := http.Header{"Authorization": {"Bearer " + strings.Repeat("x", 1000)}}
	if n := testing.AllocsPerRun(100, func() { token.Bearer(header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"Bearer T", "bearer  a.b=", "Bearer", "Bearer\tT", "Basic x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, state := token.Bearer(http.Header{"Authorization": {line}})
		if (state == token.BearerOK) != (got != "") || strings.ContainsAny(got, " \t\r\n,;\"") || !strings.HasSuffix(line, got) {
			t.Errorf("Bearer(%q) = %q, %v", line, got, state)
		}
	})
}
