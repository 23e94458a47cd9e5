// Command go removes the handwriting from a picture of a page:
//
//	go run ./examples/go page.jpg clean.jpg
//
// UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./examples/go PICTURE RESULT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(picture, result string) error {
	image, err := os.ReadFile(picture)
	if err != nil {
		return err
	}
	cleaned, err := clean(image)
	if err != nil {
		return err
	}
	return os.WriteFile(result, cleaned, 0o644)
}

// page is what the service takes. Bytes are Base64 in JSON.
type page struct {
	MediaID        []byte `json:"media_id"`
	KeepDistortion bool   `json:"keep_distortion"`
	KeepOri        bool   `json:"keep_ori"`
}

// answer is what it returns; of an error, only code and message.
type answer struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Data struct {
			MediaID []byte `json:"mediaId"`
		} `json:"data"`
	} `json:"data"`
}

func clean(image []byte) ([]byte, error) {
	body, err := json.Marshal(page{MediaID: image})
	if err != nil {
		return nil, err
	}
	status, wait, text, err := send(body)
	if err == nil && (status == http.StatusTooManyRequests ||
		status == http.StatusServiceUnavailable) {
		time.Sleep(wait) // busy: come back once
		status, _, text, err = send(body)
	}
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("HTTP %d: %w", status, err)
	}
	if status != http.StatusOK || a.Code != 0 {
		return nil, fmt.Errorf("HTTP %d, code %d: %s", status, a.Code, a.Message)
	}
	return a.Data.Data.MediaID, nil
}

var client = http.Client{Timeout: time.Minute}

// send returns the status, how long to wait when the service is busy, and the answer.
func send(body []byte) (status int, wait time.Duration, text []byte, err error) {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("UNINK_URL")+"/cleanup",
		bytes.NewReader(body))
	if err != nil {
		return 0, 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("UNINK_TOKEN"))
	req.Header.Set("Content-Type", "application/json; charset=UTF-8")
	res, err := client.Do(req)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	text, err = io.ReadAll(res.Body)
	return res.StatusCode, time.Duration(max(seconds, 1)) * time.Second, text, err
}
