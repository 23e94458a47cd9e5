// Command go removes the handwriting from a picture of a page:
//
//	go run ./examples/go page.jpg clean.jpg
//
// UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tries = 4 // while the service is busy

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./examples/go PICTURE RESULT")
		os.Exit(2)
	}
	picture, err := os.ReadFile(os.Args[1])
	if err == nil {
		picture, err = clean(picture)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], picture, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func clean(picture []byte) ([]byte, error) {
	body, err := json.Marshal(map[string]any{ // bytes become Base64
		"media_id": picture, "keep_distortion": false, "keep_ori": false,
	})
	for try := 1; err == nil; try++ {
		var a answer
		if a, err = send(body); err != nil || a.status == http.StatusOK {
			return a.body, err
		}
		busy := a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
		if !busy || try == tries {
			var e struct {
				Code    int
				Message string
			}
			_ = json.Unmarshal(a.body, &e)
			return nil, fmt.Errorf("HTTP %d, code %d: %s", a.status, e.Code, e.Message)
		}
		seconds, _ := strconv.Atoi(a.retryAfter)
		time.Sleep(time.Duration(min(max(seconds, 1), 60)) * time.Second)
	}
	return nil, err
}

var client = http.Client{Timeout: time.Minute, Transport: &http.Transport{
	Proxy: http.ProxyFromEnvironment, DialContext: dial,
}}

// dial finds names under localhost on this machine, as not every system does.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, _ := net.SplitHostPort(address)
	if strings.HasSuffix(host, ".localhost") {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// answer has the picture as its body, or an error in JSON.
type answer struct {
	status     int
	retryAfter string
	body       []byte
}

func send(body []byte) (a answer, err error) {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("UNINK_URL")+"/cleanup",
		bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("UNINK_TOKEN"))
	req.Header.Set("Content-Type", "application/json; charset=UTF-8")
	req.Header.Set("Accept", "image/*")
	// The same page is charged once in 24 hours, however often it is sent.
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%x", sha256.Sum256(body)))
	res, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header.Get("Retry-After"), text}, err
}
