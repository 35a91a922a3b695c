package logger

import (
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap/zapcore"
)

// appendConsole appends the line for a person, which leaves out what is empty or can be guessed:
//
//	15:04:05.000 INFO  GET /order/42?page=2 200 3.1ms route=orders upstream=order client_ip=203.0.113.7
func (l *line) appendConsole(b []byte) []byte {
	e, level := &l.entry, zapcore.InfoLevel
	if e.Status >= http.StatusInternalServerError {
		level = zapcore.ErrorLevel
	}
	b = e.Time.AppendFormat(b, consoleTime)
	b = append(b, ' ')
	b = append(b, paddedLevel(level)...)
	b = append(b, ' ')
	b = appendText(b, e.Method)
	b = append(b, ' ')
	b = appendText(b, clip(e.Path))
	if e.Query != "" {
		b = append(b, '?')
		b = appendText(b, redactQuery(e.Query, l.access.redact))
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, float64(e.Duration.Microseconds())/1000, 'f', 1, 64)
	b = append(b, "ms"...)
	b = appendPair(b, "code", e.Code)
	b = appendPair(b, "route", e.Route)
	b = appendPair(b, "upstream", e.Upstream)
	b = appendPair(b, "backend", e.Backend)
	if e.Attempts > 1 {
		b = append(b, " attempts="...)
		b = strconv.AppendInt(b, int64(e.Attempts), 10)
	}
	b = appendPair(b, "client_ip", e.ClientIP)
	b = appendPair(b, "subject", clip(e.Subject))
	b = appendPair(b, "client", clip(e.Client))
	b = appendPair(b, "limited", e.Limited)
	b = appendPair(b, "host", clip(e.Host))
	b = appendPair(b, "trace_id", e.TraceID)
	for _, h := range l.access.headers {
		if values := e.Header[h.name]; len(values) > 0 {
			b = appendPair(b, h.name, l.access.headerValue(h, values))
		}
	}
	return append(b, '\n')
}

// appendPair appends " key=value", or nothing where there is no value.
func appendPair(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, ' ')
	b = append(b, key...)
	b = append(b, '=')
	return appendText(b, value)
}

// appendText appends s, as a Go string where it has a blank, a quote or something that could move the cursor or break
// the line.
func appendText(b []byte, s string) []byte {
	for _, c := range s {
		if c == ' ' || c == '"' || c == utf8.RuneError || !unicode.IsPrint(c) {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(b, s...)
}
