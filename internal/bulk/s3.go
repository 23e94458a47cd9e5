package bulk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"mime"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 says where buckets are. Key, secret and session token are AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment, the region AWS_REGION.
type S3 struct {
	Endpoint string // such as http://127.0.0.1:9000; empty is Amazon's
}

// bucket is a place in an S3-compatible store.
type bucket struct {
	client *minio.Client
	name   string
	prefix string // empty, or with a slash at its end
}

func openBucket(name string, s S3) (place, error) {
	name, prefix, _ := strings.Cut(name, "/")
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	endpoint, err := url.Parse(cmp.Or(s.Endpoint, "https://s3.amazonaws.com"))
	if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" ||
		strings.Trim(endpoint.Path, "/") != "" {
		return nil, errors.New(
			"the S3 endpoint must be such as https://s3.example.com or http://127.0.0.1:9000",
		)
	}
	keys := credentials.NewEnvAWS()
	if v, err := keys.GetWithContext(nil); err != nil || v.AccessKeyID == "" {
		return nil, errors.New("S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: keys, Secure: endpoint.Scheme == "https",
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", s3Scheme, name, err)
	}
	return bucket{client, name, prefix}, nil
}

func (b bucket) String() string { return s3Scheme + path.Join(b.name, b.prefix) }

func (b bucket) id(ctx context.Context) (string, error) {
	there, err := b.client.BucketExists(ctx, b.name)
	if err == nil && !there {
		err = errors.New("there is no such bucket")
	}
	return digest(b.client.EndpointURL().Host + " " + b.String())[:26], err
}

func (b bucket) list(ctx context.Context) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for o := range b.client.ListObjectsIter(
			ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true},
		) {
			if o.Err != nil {
				yield(page{}, o.Err)
				return
			}
			if !yield(page{Key: strings.TrimPrefix(o.Key, b.prefix), Mark: o.ETag, Size: o.Size}, nil) {
				return
			}
		}
	}
}

func (b bucket) read(ctx context.Context, name string, most int64) ([]byte, error) {
	o, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, s3Error(err)
	}
	defer func() { _ = o.Close() }()
	if _, err := o.Stat(); err != nil {
		return nil, s3Error(err)
	}
	data, err := io.ReadAll(io.LimitReader(o, most))
	return data, s3Error(err)
}

// settle has nothing to do: the store keeps no part of an object.
func (bucket) settle(context.Context) error { return nil }

func (bucket) close() error { return nil }

// write is one request, which the store carries out whole or not at all.
func (b bucket) write(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{
			ContentType: mime.TypeByExtension(path.Ext(name)), DisableMultipart: true,
		})
	switch minio.ToErrorResponse(err).Code {
	case "KeyTooLongError", "XMinioInvalidObjectName":
		return fmt.Errorf("%w: %w", errName, err)
	}
	return s3Error(err)
}

func (b bucket) remove(ctx context.Context, name string) error {
	return s3Error(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// s3Error tells what is not there from a store that does not answer as it should.
func s3Error(err error) error {
	if err == nil {
		return nil
	}
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case "InvalidObjectState": // it is archived
		return err
	}
	return unavailable{err}
}
