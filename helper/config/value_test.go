package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

func TestValues(t *testing.T) {
	tests := []struct {
		text  string
		want  any    // what it means; nil: it is refused
		again string // how it is written by MarshalText; "": as it was
		into  any
	}{
		{"250ms", Duration(250 * time.Millisecond), "", new(Duration)},
		{"90s", Duration(90 * time.Second), "1m30s", new(Duration)},
		{"5m", Duration(5 * time.Minute), "", new(Duration)},
		{"1h", Duration(time.Hour), "", new(Duration)},
		{"0", Duration(0), "0s", new(Duration)},
		{"10m10s", Duration(610 * time.Second), "", new(Duration)},
		{"-1s", nil, "", new(Duration)},
		{"5", nil, "", new(Duration)},
		{"inf", nil, "", new(Duration)},
		{"300000000h", nil, "", new(Duration)},

		{"0", Size(0), "", new(Size)},
		{"512", Size(512), "", new(Size)},
		{"1024", Size(1024), "1KiB", new(Size)},
		{"64KiB", Size(64 << 10), "", new(Size)},
		{"10MiB", Size(10 << 20), "", new(Size)},
		{"3GiB", Size(3 << 30), "", new(Size)},
		{"10MB", nil, "", new(Size)},
		{"1.5MiB", nil, "", new(Size)},
		{"-1", nil, "", new(Size)},
		{"", nil, "", new(Size)},
		{"9999999999GiB", nil, "", new(Size)},
		{"99999999999999999999", nil, "", new(Size)},

		{"10/s", Rate{10, time.Second}, "", new(Rate)},
		{"600/m", Rate{600, time.Minute}, "", new(Rate)},
		{"5000/h", Rate{5000, time.Hour}, "", new(Rate)},
		{"0", Rate{}, "", new(Rate)},
		{"0/s", Rate{}, "0", new(Rate)},
		{"10/0s", nil, "", new(Rate)},
		{"10/d", nil, "", new(Rate)},
		{"10", nil, "", new(Rate)},
		{"-10/s", nil, "", new(Rate)},
		{"inf/s", nil, "", new(Rate)},
		{"1000000001/s", nil, "", new(Rate)},
		{"99999999999/s", nil, "", new(Rate)},

		{"500-599", Statuses{{500, 599}}, "", new(Statuses)},
		{"500-599, 429", Statuses{{500, 599}, {429, 429}}, "500-599,429", new(Statuses)},
		{"599-500", nil, "", new(Statuses)},
		{"99", nil, "", new(Statuses)},
		{"500-600", nil, "", new(Statuses)},
		{"5xx", nil, "", new(Statuses)},
		{"", nil, "", new(Statuses)},

		{"2027-01-01", Date{time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, "", new(Date)},
		{"2027-02-30", nil, "", new(Date)},
		{"tomorrow", nil, "", new(Date)},

		{"10.0.0.0/8", prefix("10.0.0.0/8"), "", new(Prefix)},
		{"127.0.0.1", prefix("127.0.0.1/32"), "127.0.0.1/32", new(Prefix)},
		{"::1", prefix("::1/128"), "::1/128", new(Prefix)},
		{"10.0.0.1/8", nil, "", new(Prefix)},
		{"fe80::1%eth0", nil, "", new(Prefix)},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%T %q", test.into, test.text), func(t *testing.T) {
			err := test.into.(encoding.TextUnmarshaler).UnmarshalText([]byte(test.text))
			if test.want == nil {
				if err == nil || !strings.Contains(err.Error(), ": write ") || test.text != "" && strings.Contains(strings.Split(err.Error(), ": write ")[0], test.text) {
					t.Errorf("the error is %v, and has to say what to write, and not what was written", err)
				}
				return
			}
			got := reflect.ValueOf(test.into).Elem().Interface()
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Fatalf("got %v (%v), want %v", got, err, test.want)
			}
			if test.again == "" {
				test.again = test.text
			}
			if again, err := got.(encoding.TextMarshaler).MarshalText(); err != nil || string(again) != test.again {
				t.Errorf("it is written as %s (%v), want %s", again, err, test.again)
			}
		})
	}
}

func TestRatePerSecond(t *testing.T) {
	for rate, want := range map[Rate]float64{{}: 0, {10, time.Second}: 10, {90, time.Minute}: 1.5, {1800, time.Hour}: 0.5} {
		if got := rate.PerSecond(); got != want {
			t.Errorf("%v is %v a second, want %v", rate, got, want)
		}
	}
}

func TestStatusesContain(t *testing.T) {
	statuses := Statuses{{500, 599}, {429, 429}}
	for status, want := range map[int]bool{428: false, 429: true, 430: false, 499: false, 500: true, 599: true, 600: false} {
		if statuses.Contains(status) != want {
			t.Errorf("Contains(%d) is %v", status, !want)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	c := &Config{Server: Server{AdminToken: "hunter2"}, Redis: &Redis{Password: "hunter2"}, Auth: Auth{Providers: map[string]Provider{"a": {Secret: "hunter2"}}}}
	inJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	inYAML, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	printed := []string{string(inJSON), string(inYAML)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		printed = append(printed, fmt.Sprintf(verb, c.Server), fmt.Sprintf(verb, *c.Redis), fmt.Sprintf(verb, c.Auth), fmt.Sprintf(verb, c.Redis.Password))
	}
	for _, text := range printed {
		if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), "68756e74657232") {
			t.Errorf("a secret is printed: %s", text)
		}
	}
	if got := Secret("").String(); got != "" {
		t.Errorf("no secret is printed as %q, as if there were one", got)
	}
}
