import com.google.protobuf.InvalidProtocolBufferException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import tempinbox.events.v1.EmailReceivedOuterClass.EmailReceived;
import tempinbox.events.v1.InboxCreatedOuterClass.InboxCreated;
import tempinbox.events.v1.InboxExpiredOuterClass.InboxExpired;

/**
 * Counts the events of each inbox. Reads the topics of the Temporary Inbox Service as docs/events
 * says: work and the ids of its events are stored in one transaction, offsets are committed after.
 *
 * <p>Settings: BROKERS, GROUP (default example-java), DATABASE (a SQLite file, default events.db).
 */
public final class Consumer {
  private interface InboxOf {
    String read(byte[] value) throws InvalidProtocolBufferException;
  }

  private static final Map<String, InboxOf> TOPICS = Map.of(
      "email.received", value -> EmailReceived.parseFrom(value).getInboxId(),
      "inbox.created", value -> InboxCreated.parseFrom(value).getInboxId(),
      "inbox.expired", value -> InboxExpired.parseFrom(value).getInboxId());
  private static final List<String> TABLES = List.of(
      "CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT NOT NULL)",
      "CREATE TABLE IF NOT EXISTS inboxes (id TEXT PRIMARY KEY, events INTEGER NOT NULL)");
  private static final String GROUP = System.getenv().getOrDefault("GROUP", "example-java");

  private static final class Unreadable extends Exception {
    Unreadable(String reason) {
      super(reason);
    }
  }

  /** The work of one event, once, and what it was; Unreadable where the record is none. */
  private static String handle(Connection database, ConsumerRecord<byte[], byte[]> record)
      throws SQLException, Unreadable {
    String inbox;
    try {
      var value = record.value() == null ? new byte[0] : record.value();
      inbox = TOPICS.get(record.topic()).read(value);
    } catch (InvalidProtocolBufferException error) {
      throw new Unreadable("the value is no " + record.topic());
    }
    var id = record.headers().lastHeader("ce_id");
    if (id == null || inbox.isEmpty()) {
      throw new Unreadable("ce_id or inbox_id is missing");
    }
    var text = new String(id.value());
    if (update(database, "INSERT OR IGNORE INTO events VALUES (?, ?)", text, record.topic()) == 0) {
      return ""; // a duplicate: its work is done
    }
    var count = "INSERT INTO inboxes VALUES (?, 1) ON CONFLICT (id) "
        + "DO UPDATE SET events = events + 1";
    update(database, count, inbox);
    return record.topic() + " " + text + " inbox " + inbox + "\n";
  }

  private static int update(Connection database, String sql, String... values) throws SQLException {
    try (var statement = database.prepareStatement(sql)) {
      for (int index = 0; index < values.length; index++) {
        statement.setString(index + 1, values[index]);
      }
      return statement.executeUpdate();
    }
  }

  /** What cannot be read goes to the group's own topic, as it came; throws where it is lost. */
  private static void putAway(KafkaProducer<byte[], byte[]> producer,
      ConsumerRecord<byte[], byte[]> record, String reason) throws Exception {
    var source = record.topic() + "/" + record.partition() + "/" + record.offset();
    var letter = new ProducerRecord<>(
        GROUP + ".dead-letter", null, record.key(), record.value(), record.headers());
    letter.headers().add("dead_letter_reason", reason.getBytes());
    letter.headers().add("dead_letter_source", source.getBytes());
    producer.send(letter).get();
  }

  public static void main(String[] arguments) throws Exception {
    String brokers = System.getenv("BROKERS");
    // With an instance id the partitions wait for a consumer that crashed and comes back.
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", brokers, "group.id", GROUP,
        "group.instance.id", GROUP + "-1", "enable.auto.commit", false,
        "auto.offset.reset", "earliest");
    try (var database = DriverManager.getConnection(
            "jdbc:sqlite:" + System.getenv().getOrDefault("DATABASE", "events.db"));
        var producer = new KafkaProducer<>(Map.of("bootstrap.servers", (Object) brokers),
            new ByteArraySerializer(), new ByteArraySerializer());
        var consumer = new KafkaConsumer<>(settings,
            new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      for (String table : TABLES) {
        update(database, table);
      }
      database.setAutoCommit(false);
      var main = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        consumer.wakeup();
        try {
          main.join();
        } catch (InterruptedException error) {
          Thread.currentThread().interrupt();
        }
      }));
      consumer.subscribe(TOPICS.keySet());
      while (true) {
        var records = consumer.poll(Duration.ofMillis(500));
        var done = new StringBuilder();
        for (var record : records) {
          try {
            done.append(handle(database, record));
          } catch (Unreadable error) {
            putAway(producer, record, error.getMessage());
          }
        }
        database.commit();
        System.out.print(done);
        try {
          consumer.commitSync();
        } catch (CommitFailedException error) {
          // The partitions moved: who has them now drops duplicates.
          System.out.println("offsets were not committed: " + error.getMessage());
        }
      }
    } catch (WakeupException end) {
      System.out.println("stopped");
    }
  }
}
