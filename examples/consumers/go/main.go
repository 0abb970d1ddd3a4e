// Counts the events of each inbox. Reads the topics of the Temporary Inbox Service as docs/events
// says: work and the ids of its events are stored in one transaction, offsets are committed after.
//
// Settings: BROKERS, GROUP (default example-go), DATABASE (a SQLite file, default events.db).
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/consumer/events"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite"
)

type event interface {
	proto.Message
	GetInboxId() string
}

var topics = map[string]func() event{
	"email.received": func() event { return &events.EmailReceived{} },
	"inbox.created":  func() event { return &events.InboxCreated{} },
	"inbox.expired":  func() event { return &events.InboxExpired{} },
}

const tables = `
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inboxes (id TEXT PRIMARY KEY, events INTEGER NOT NULL);`

var errUnreadable = errors.New("unreadable")

// The work of one event, once, and what it was; errUnreadable where the record is none.
func handle(work *sql.Tx, record *kgo.Record) (string, error) {
	id, made := header(record, "ce_id"), topics[record.Topic]()
	if err := proto.Unmarshal(record.Value, made); err != nil {
		return "", fmt.Errorf("%w: the value is no %s", errUnreadable, record.Topic)
	}
	if id == "" || made.GetInboxId() == "" {
		return "", fmt.Errorf("%w: ce_id or inbox_id is missing", errUnreadable)
	}
	added, err := work.Exec("INSERT OR IGNORE INTO events VALUES (?, ?)", id, record.Topic)
	if err != nil {
		return "", err
	}
	if rows, err := added.RowsAffected(); rows == 0 || err != nil {
		return "", err // a duplicate: its work is done
	}
	_, err = work.Exec("INSERT INTO inboxes VALUES (?, 1) ON CONFLICT (id) "+
		"DO UPDATE SET events = events + 1", made.GetInboxId())
	return fmt.Sprintln(record.Topic, id, "inbox", made.GetInboxId()), err
}

func header(record *kgo.Record, name string) string {
	for _, each := range record.Headers {
		if each.Key == name {
			return string(each.Value)
		}
	}
	return ""
}

// What cannot be read goes to the group's own topic, as it came.
func deadLetter(record *kgo.Record, group, reason string) *kgo.Record {
	source := fmt.Sprintf("%s/%d/%d", record.Topic, record.Partition, record.Offset)
	letter := kgo.Record{Topic: group + ".dead-letter", Key: record.Key, Value: record.Value}
	letter.Headers = append(record.Headers,
		kgo.RecordHeader{Key: "dead_letter_reason", Value: []byte(reason)},
		kgo.RecordHeader{Key: "dead_letter_source", Value: []byte(source)})
	return &letter
}

func main() {
	log.SetFlags(0)
	group := cmp.Or(os.Getenv("GROUP"), "example-go")
	database := must(sql.Open("sqlite", cmp.Or(os.Getenv("DATABASE"), "events.db")))
	must(database.Exec(tables))
	// With an instance id the partitions wait for a consumer that crashed and comes back.
	client := must(kgo.NewClient(kgo.SeedBrokers(strings.Split(os.Getenv("BROKERS"), ",")...),
		// A topic for dead letters that was just made is not known to every broker yet.
		kgo.UnknownTopicRetries(30),
		kgo.ConsumerGroup(group), kgo.InstanceID(group+"-1"), kgo.DisableAutoCommit(),
		kgo.ConsumeTopics("email.received", "inbox.created", "inbox.expired"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll()))
	defer client.Close()
	running, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	for running.Err() == nil {
		records := client.PollRecords(running, 500).Records()
		work := must(database.Begin())
		var letters []*kgo.Record
		done := ""
		for _, record := range records {
			line, err := handle(work, record)
			done += line
			if errors.Is(err, errUnreadable) {
				letters = append(letters, deadLetter(record, group, err.Error()))
			} else if err != nil {
				log.Fatal(err)
			}
		}
		if err := client.ProduceSync(context.Background(), letters...).FirstErr(); err != nil {
			log.Fatal("a dead letter did not arrive, so no offset is committed: ", err)
		}
		if err := work.Commit(); err != nil {
			log.Fatal(err)
		}
		fmt.Print(done)
		if err := client.CommitRecords(context.Background(), records...); err != nil {
			log.Print("offsets were not committed: ", err) // who has the partitions now drops duplicates
		}
		client.AllowRebalance()
	}
}

func must[T any](made T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return made
}
