package filter

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"gatehouse/helper/notation"
)

// Argument is what follows the colon of name:argument. Each method reads it as one kind of value, and its error says what to
// write instead; none of them trims or repairs anything. The zero Argument is that of a name without a colon.
type Argument struct {
	text  string
	given bool
}

// ArgumentOf is the argument text, for tests of factories.
func ArgumentOf(text string) Argument { return Argument{text, true} }

// None makes sure that there is no argument, not even an empty one.
func (a Argument) None() error {
	if a.given {
		return errors.New("takes no argument: remove the colon and what follows it")
	}
	return nil
}

// Text is an argument of any form but the empty one. what says what it is, with its article.
func (a Argument) Text(what string) (string, error) {
	if a.text == "" {
		return "", fmt.Errorf("needs %s after a colon", what)
	}
	return a.text, nil
}

// Size is a number of bytes, at least 1: 512, 64KiB, 10MiB.
func (a Argument) Size() (int64, error) {
	text, err := a.Text("a size such as 1MiB")
	if err != nil {
		return 0, err
	}
	size, err := notation.ParseSize(text)
	if err == nil && size == 0 {
		err = errors.New("too small: write a size such as 1MiB")
	}
	if err != nil {
		return 0, fmt.Errorf("the argument is %w", err)
	}
	return size, nil
}

// Rate is a number of events, at least 1, in a period: 10/s, 600/m, 5000/h.
func (a Argument) Rate() (events int, period time.Duration, err error) {
	text, err := a.Text("a rate such as 60/m")
	if err != nil {
		return 0, 0, err
	}
	events, period, err = notation.ParseRate(text)
	if err != nil || events == 0 {
		return 0, 0, errors.New("the argument is not a rate: write one such as 10/s, 600/m or 5000/h")
	}
	return events, period, nil
}

// Networks is a list of CIDRs and addresses with commas between them. A network of IPv4 in IPv6 addresses stands for the IPv4 one.
func (a Argument) Networks() ([]netip.Prefix, error) {
	text, err := a.Text("networks such as 10.0.0.0/8,2001:db8::/32")
	if err != nil {
		return nil, err
	}
	var networks []netip.Prefix
	for item := range strings.SplitSeq(text, ",") {
		network, err := notation.ParsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("item %d is %w", len(networks)+1, err)
		}
		if network.Addr().Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// HeaderName is a field name (RFC 9110, section 5.1), in its canonical form.
func (a Argument) HeaderName() (string, error) {
	text, err := a.Text("a header's name such as X-Frame-Options")
	if err != nil {
		return "", err
	}
	return headerName(text)
}

// HeaderField is a field name, in its canonical form, and its value (RFC 9110, section 5), from NAME=VALUE. The value may be
// empty and have further equals signs; spaces around it, which no field value keeps, are refused.
func (a Argument) HeaderField() (name, value string, err error) {
	text, err := a.Text("a header such as X-Frame-Options=DENY")
	if err != nil {
		return "", "", err
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return "", "", errors.New("the argument has no =: write a header such as X-Frame-Options=DENY")
	}
	if name, err = headerName(name); err != nil {
		return "", "", err
	}
	if !httpguts.ValidHeaderFieldValue(value) || value != strings.Trim(value, " \t") {
		return "", "", fmt.Errorf("the value for %s can't stand in a header: write it without control characters and spaces around it", name)
	}
	return name, value, nil
}

func headerName(text string) (string, error) {
	if !httpguts.ValidHeaderFieldName(text) {
		return "", errors.New("the argument doesn't begin with a header's name: write one such as X-Frame-Options")
	}
	return http.CanonicalHeaderKey(text), nil
}
