// Package logger is the process's log.
package logger
