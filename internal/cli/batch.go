package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"unink/internal/bulk"
	"unink/internal/fleet"
	"unink/internal/job"
)

type batchCmd struct {
	Source      string `arg:"" help:"A folder, with all folders in it, or s3://bucket/prefix. Pictures are told by their names' endings."`
	Destination string `arg:"" help:"Another folder, or s3://bucket/prefix."`
	Fleet       string `required:"" env:"UNINK_FLEET" placeholder:"URL" help:"nats:// or tls:// of the NATS server, with JetStream, that unink worker processes use."`
	Jobs        int    `short:"j" default:"16" placeholder:"N" help:"Pages on their way at once (${default}): the fleet's slots, and some more. Each takes memory for itself and its result."`
	S3Endpoint  string `name:"s3-endpoint" env:"AWS_ENDPOINT_URL_S3,AWS_ENDPOINT_URL" placeholder:"URL" help:"Where buckets are. Default: Amazon's. Keys and region: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION."`
	Status      bool   `help:"Only show how far it is and which pages failed."`
	Retry       bool   `help:"Retry pages that failed before."`
	Anew        bool   `help:"Drop what an earlier batch with another source or other options left to do in the destination."`
	JSON        bool   `name:"json" help:"Report as JSON, one object a line."`
	fleetFlags
	optionFlags
}

// Help is shown under the flags.
func (*batchCmd) Help() string {
	return `Stopped or killed at any time, the same command goes on where it was, also on several machines at
once. A page is cleaned again only when it or the options changed. A result has its page's name,
and the ending of its format after it where that differs: x.heic becomes x.heic.jpg. What was done
stands in .unink in the destination. Pages go when no page of a service waits for a worker.
Exit codes: 0 done, 1 stopped, 2 wrong use, 3 some pages failed, 130 interrupted.`
}

// Validate checks what can be checked without looking at a page.
func (c *batchCmd) Validate() error {
	if c.Jobs < 1 {
		return errors.New("-j must be at least 1")
	}
	_, err := c.options()
	return err
}

// Run cleans what is left to do, or tells how much that is.
func (c *batchCmd) Run(env *environment) (err error) {
	config, err := c.fleet(c.Fleet)
	if err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	log := newLog(env)
	client, err := fleet.Open(config, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	queues, err := client.JetStream()
	if err != nil {
		return err
	}
	lines := env.lines(c.JSON)
	tell := func(p bulk.Outcome) {
		lines.Page(job.Outcome{Input: p.Page, Output: p.Output, Result: p.Result, Err: p.Err})
	}
	b, err := bulk.Open(bulk.Config{
		Source: c.Source, Destination: c.Destination, S3: bulk.S3{Endpoint: c.S3Endpoint},
		Options: o, AtOnce: c.Jobs, Retry: c.Retry, Anew: c.Anew, Report: tell,
	}, client, queues, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	start := time.Now()
	var counts bulk.Counts
	if c.Status {
		counts, err = b.Status(env.ctx, tell)
	} else {
		counts, err = b.Run(env.ctx)
	}
	if err != nil {
		return err
	}
	c.sum(env, counts, time.Since(start))
	switch counts.Failed {
	case 0:
		return nil
	case counts.Pages:
		return errFailed
	}
	return errSomeFailed
}

// sum tells how far the whole batch is.
func (c *batchCmd) sum(env *environment, n bulk.Counts, took time.Duration) {
	if !c.JSON {
		fmt.Fprintf(env.stderr, "%d pages: %d cleaned, %d failed, %d left; %d other files; %.1f s\n",
			n.Pages, n.Cleaned, n.Failed, n.Left(), n.Skipped, took.Seconds())
		return
	}
	_ = json.NewEncoder(env.stdout).Encode(struct { // there is nobody to tell when nobody reads
		Type    string  `json:"type"`
		Pages   int     `json:"pages"`
		Cleaned int     `json:"cleaned"`
		Failed  int     `json:"failed"`
		Left    int     `json:"left"`
		Skipped int     `json:"skipped"`
		Seconds float64 `json:"seconds"`
	}{"summary", n.Pages, n.Cleaned, n.Failed, n.Left(), n.Skipped, took.Seconds()})
}
