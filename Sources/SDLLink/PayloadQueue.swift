/// Payloads that wait to be written, oldest first. Bounded in payloads, because each is latency, and in bytes.
///
/// A ring that is allocated once.
struct PayloadQueue {
  struct Entry {
    let payload: any MediaPayload
    let byteCount: Int
    let queuedAt: Duration
  }

  private var entries: [Entry?]
  private var firstIndex = 0
  private let maximumByteCount: Int
  /// Frames that wait.
  private(set) var count = 0
  private(set) var byteCount = 0

  /// `capacity` is in frames, at least 1.
  init(capacity: Int, maximumByteCount: Int) {
    entries = Array(repeating: nil, count: max(capacity, 1))
    self.maximumByteCount = maximumByteCount
  }

  /// Whether another frame of any size would have to wait.
  var isFull: Bool { count == entries.count }

  var first: Entry? { entries[firstIndex] }

  /// A payload above the byte limit gets in alone: otherwise it would wait for ever.
  func hasRoom(for size: Int) -> Bool {
    count == 0 || (!isFull && size <= maximumByteCount - byteCount)
  }

  /// Ask ``hasRoom(for:)`` first.
  mutating func append(_ entry: Entry) {
    entries[(firstIndex + count) % entries.count] = entry
    count += 1
    byteCount += entry.byteCount
  }

  mutating func removeFirst() -> Entry? {
    guard let entry = entries[firstIndex] else { return nil }
    entries[firstIndex] = nil
    firstIndex = (firstIndex + 1) % entries.count
    count -= 1
    byteCount -= entry.byteCount
    return entry
  }
}
