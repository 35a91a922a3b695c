package notation

import (
	"errors"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"time"
)

var (
	sizeForm = regexp.MustCompile(`^([0-9]{1,18})(KiB|MiB|GiB)?$`)
	rateForm = regexp.MustCompile(`^([0-9]{1,10})/(s|m|h)$`)
)

// ParseSize reads a number of bytes: 512, 64KiB, 10MiB, 1GiB. Never negative.
func ParseSize(text string) (int64, error) {
	match := sizeForm.FindStringSubmatch(text)
	if match == nil {
		return 0, errors.New("not a size: write 512, 64KiB, 10MiB or 1GiB")
	}
	number, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return 0, errors.New("not a size: write 512, 64KiB, 10MiB or 1GiB")
	}
	unit := Unit(match[2])
	if number > math.MaxInt64/unit {
		return 0, errors.New("too large for a size: write 512, 64KiB, 10MiB or 1GiB")
	}
	return number * unit, nil
}

// Unit is the number of bytes in KiB, MiB or GiB; 1 for "".
func Unit(name string) int64 {
	return map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[name]
}

// ParseRate reads a number of events in a second, minute or hour: 10/s, 600/m, 5000/h. 0 is none, with a period of 0.
func ParseRate(text string) (events int, period time.Duration, err error) {
	if text == "0" {
		return 0, 0, nil
	}
	match := rateForm.FindStringSubmatch(text)
	if match == nil {
		return 0, 0, errors.New("not a rate: write 10/s, 600/m, 5000/h, or 0 for none")
	}
	events, err = strconv.Atoi(match[1])
	if err != nil || events > int(time.Second) { // more than one a nanosecond can't be told apart
		return 0, 0, errors.New("too fast for a rate: write 10/s, 600/m or 5000/h")
	}
	if events == 0 {
		return 0, 0, nil
	}
	return events, map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[match[2]], nil
}

// ParsePrefix reads a network: 10.0.0.0/8, 2001:db8::/32; a bare address is a network of its own. Bits past the length are
// refused: they are a slip of the pen.
func ParsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, errors.New("not a CIDR: write 10.0.0.0/8, 2001:db8::/32 or an address")
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, errors.New("not a CIDR, as it has bits set past its length: write 10.0.0.0/8 rather than 10.0.0.1/8")
	}
	return prefix, nil
}
