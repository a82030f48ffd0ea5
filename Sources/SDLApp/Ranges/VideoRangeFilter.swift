/// Which sizes of pictures may pass: those that the app's ranges accept, given the head unit's displays.
///
/// Where an SDL sink is downstream, that sink decides in the end and warns the application. So everything passes as
/// long as its head unit's displays are unknown, and when the app supports none of them.
package struct VideoRangeFilter: Equatable, Sendable {
  /// The head unit's displays, as far as they are known.
  package enum HeadUnit: Equatable, Sendable {
    /// There is no SDL sink downstream.
    case absent
    /// It has not reported its displays yet.
    case unknown
    /// Its displays in its order of preference; empty when it accepts any size.
    case displays([VideoDisplay])
  }

  package let ranges: VideoRanges
  /// The head unit's displays, as far as they are known.
  package let headUnit: HeadUnit
  /// The head unit's displays; empty when they are unknown too.
  package let displays: [VideoDisplay]
  /// Displays that the ranges accept, in the head unit's order.
  package let acceptedDisplays: [VideoDisplay]

  /// Evaluates `ranges` for every display of `headUnit`.
  package init(ranges: VideoRanges, headUnit: HeadUnit = .absent) {
    self.ranges = ranges
    self.headUnit = headUnit
    if case .displays(let displays) = headUnit { self.displays = displays } else { displays = [] }
    acceptedDisplays = displays.filter { ranges.evaluate($0).isAccepted }
  }

  /// Whether the head unit has displays, but none that the app supports.
  package var supportsNone: Bool { !displays.isEmpty && acceptedDisplays.isEmpty }

  package var acceptsEverything: Bool { ranges.isUnlimited || headUnit == .unknown || supportsNone }

  package func accepts(_ picture: VideoPicture) -> Bool { acceptsEverything || supports(picture) }

  /// Whether the app supports a picture: because it has the size of an accepted display or, if no display has that
  /// size, because the ranges accept it by itself.
  package func supports(_ picture: VideoPicture) -> Bool {
    if acceptedDisplays.contains(where: { $0.streamSize == picture.size }) { return true }
    return !displays.contains { $0.streamSize == picture.size } && ranges.evaluate(picture).isAccepted
  }

  /// Why a picture may not pass, as texts for an error; empty if it may pass.
  package func rejectionReasons(for picture: VideoPicture) -> [String] {
    guard !accepts(picture) else { return [] }
    let candidates = displays.filter { $0.streamSize == picture.size }
    let results =
      candidates.isEmpty
      ? [("\(picture)", ranges.evaluate(picture))] : candidates.map { ("\($0)", ranges.evaluate($0)) }
    return results.compactMap { name, result in result.isAccepted ? nil : "\(name): \(result)" }
  }
}

/// The filters of one run: the one that answered the last CAPS query, and former ones by which caps still on their way
/// may have been chosen.
///
/// As with `caps-change-mode=delayed` of capsfilter, caps that upstream chose from an earlier answer still pass,
/// because refusing them would end the pipeline. When they arrive, upstream is asked once to choose again.
package struct VideoRangeFilterHistory: Equatable, Sendable {
  /// The filter that answered the last query; nil before the first.
  package private(set) var current: VideoRangeFilter?
  /// The filters before it since caps that ``current`` accepts last arrived; the oldest first.
  package private(set) var former: [VideoRangeFilter] = []
  private var hasAskedAgain = false

  /// The most former filters that are kept. The oldest always is, since its caps may still flow.
  static let maximumFormerCount = 8

  package init() {}

  /// Queries are answered by `filter` from now on.
  package mutating func use(_ filter: VideoRangeFilter) {
    guard filter != current else { return }
    if let current { former.append(current) }
    if former.count > Self.maximumFormerCount { former.remove(at: 1) }
    current = filter
    hasAskedAgain = false
  }

  /// Whether an earlier answer allowed this picture.
  package func formerlyAccepted(_ picture: VideoPicture) -> Bool { former.contains { $0.accepts(picture) } }

  /// Caps of this picture have arrived.
  ///
  /// - Returns: whether to ask upstream for others, because only a former filter accepts these.
  package mutating func capsArrived(_ picture: VideoPicture) -> Bool {
    guard current?.accepts(picture) == false else {
      former = []
      return false
    }
    defer { hasAskedAgain = true }
    return !hasAskedAgain
  }
}
