import GStreamerKit
import SDLMessages
import SDLWire

/// The sound of the app that began to speak last, between the server's thread and the streaming thread: only this app's
/// sound is pushed, until its service ends.
///
/// It is bounded: when it is full, new sound is dropped.
struct ReceivedAudio: Sendable {
  /// More than a minute of 44 kHz. Apps with SDL's iOS library send whole files at once.
  static let maximumByteCount = 8 << 20

  /// Whole samples on their way to the streaming thread.
  struct Message: Sendable {
    var bytes: [UInt8]
    /// When it came, by the run's clock.
    var arrival: Duration
    /// The first of an utterance.
    var isStart: Bool
    /// Sound was dropped in front of it.
    var isDiscontinuous: Bool
  }

  /// `samplesIn` is the sum of all other counters and ``queuedCount``.
  struct Counters: Sendable {
    var samplesIn: UInt64 = 0
    var samplesOut: UInt64 = 0
    /// Downstream was too slow, or the app too fast.
    var droppedFull: UInt64 = 0
    /// They came while the pipeline was not playing.
    var droppedPaused: UInt64 = 0
    /// The element stopped before they were pushed.
    var droppedDiscarded: UInt64 = 0
    var bytesIn: UInt64 = 0
    /// Silent samples that were pushed.
    var silence: UInt64 = 0
    /// How often sound in the middle of an utterance came too late for its place.
    var gaps: UInt64 = 0
  }

  /// Bytes that a message takes besides its sound.
  private static let messageOverhead = 64

  var counters: Counters
  var format = PCMFormat()
  /// Whether new sound is taken: sound that came in a pause would delay all later sound.
  var isPlaying = false
  /// The app whose sound is pushed, or was last.
  private(set) var app: UInt8?
  /// The apps with an open service, in the order of their starts.
  private var speakers: [UInt8] = []
  private var messages = FIFO<Message>()
  private var byteCount = 0
  /// The beginning of a sample whose end is still to come.
  private var rest: [UInt8] = []
  private var isStart = true
  private var isDiscontinuous = false

  init(_ counters: Counters) {
    self.counters = counters
  }

  /// Samples.
  var queuedCount: Int { format.sampleCount(ofByteCount: byteCount) }

  /// The result of the next ``take()``.
  var first: Message? { messages.first }

  /// An app has started its audio service.
  mutating func begin(by app: UInt8) {
    speakers.removeAll { $0 == app }
    speakers.append(app)
    select(app)
  }

  /// The service has ended, or the app has gone.
  mutating func end(by app: UInt8) {
    speakers.removeAll { $0 == app }
    if app == self.app, let last = speakers.last { select(last) }
  }

  private mutating func select(_ app: UInt8) {
    self.app = app
    isStart = true
    rest = []
  }

  /// Takes an app's sound; false if it is not pushed.
  mutating func append(_ bytes: [UInt8], from app: UInt8, now: Duration) -> Bool {
    guard app == self.app else { return false }
    counters.bytesIn &+= UInt64(bytes.count)
    let bytes = wholeSamples(bytes)
    let samples = UInt64(format.sampleCount(ofByteCount: bytes.count))
    counters.samplesIn &+= samples
    guard samples > 0 else { return false }
    guard isPlaying else {
      counters.droppedPaused &+= samples
      isStart = true
      return false
    }
    // Including the overhead of an array.
    let overhead = messages.count * Self.messageOverhead
    guard byteCount + bytes.count + overhead <= Self.maximumByteCount || first == nil else {
      counters.droppedFull &+= samples
      isDiscontinuous = true
      return false
    }
    messages.append(Message(bytes: bytes, arrival: now, isStart: isStart, isDiscontinuous: isDiscontinuous))
    byteCount += bytes.count
    isStart = false
    isDiscontinuous = false
    return true
  }

  /// Apps may cut their sound anywhere: head units play the bytes as they come.
  private mutating func wholeSamples(_ bytes: [UInt8]) -> [UInt8] {
    let size = format.sampleSize.byteCount
    guard !rest.isEmpty || bytes.count % size != 0 else { return bytes }
    var joined = rest + bytes
    let excess = joined.count % size
    rest = Array(joined.suffix(excess))
    joined.removeLast(excess)
    return joined
  }

  mutating func take() -> Message? {
    guard let message = messages.popFirst() else { return nil }
    byteCount -= message.bytes.count
    counters.samplesOut &+= UInt64(format.sampleCount(ofByteCount: message.bytes.count))
    return message
  }

  /// Forgets sound that has not been pushed.
  mutating func discard() {
    counters.droppedDiscarded &+= UInt64(queuedCount)
    messages = FIFO()
    byteCount = 0
    rest = []
    speakers = []
    app = nil
    isStart = true
  }
}

extension ReceivedAudio.Counters {
  func fill(_ structure: borrowing Structure) {
    structure.set("samples-in", samplesIn)
    structure.set("samples-out", samplesOut)
    structure.set("samples-dropped-queue-full", droppedFull)
    structure.set("samples-dropped-paused", droppedPaused)
    structure.set("samples-dropped-discarded", droppedDiscarded)
    structure.set("samples-of-silence", silence)
    structure.set("gaps", gaps)
    structure.set("audio-bytes-in", bytesIn)
  }
}
