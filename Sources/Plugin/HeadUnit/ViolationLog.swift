import SDLHeadUnit

struct ViolationRecord: Sendable {
  var appID: UInt8
  var appName: String?
  var violation: Violation
  /// Running time in nanoseconds; nil while the pipeline has none.
  var runningTime: UInt64?
  /// How many were not reported since the last one.
  var suppressed: UInt64 = 0
}

/// The last violations, and a limit of the reported ones: an app can break a rule with every byte.
struct ViolationLog: Sendable {
  private static let keptCount = 100
  private static let reportsPerSecond = 20

  private(set) var last: [ViolationRecord] = []
  private(set) var count: UInt64 = 0
  private var second = Duration.zero
  private var reportsInSecond = 0
  private var suppressed: UInt64 = 0

  /// Takes a violation.
  ///
  /// - Returns: the report; nil if there have been too many.
  mutating func note(_ record: ViolationRecord, now: Duration) -> ViolationRecord? {
    count &+= 1
    if now - second >= .seconds(1) {
      second = now
      reportsInSecond = 0
    }
    guard reportsInSecond < Self.reportsPerSecond else {
      suppressed &+= 1
      return nil
    }
    reportsInSecond += 1
    var record = record
    record.suppressed = suppressed
    suppressed = 0
    if last.count == Self.keptCount { last.removeFirst() }
    last.append(record)
    return record
  }
}
