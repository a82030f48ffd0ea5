/// Which sizes of pictures may pass: what the app's ranges accept, given what is known of the head unit.
///
/// Where an SDL sink is downstream, that sink decides in the end and warns the application. So everything passes as long as
/// its head unit's displays are unknown, and when the app supports none of them.
public struct VideoRangeFilter: Equatable, Sendable {
  /// What is known of the head unit.
  public enum HeadUnit: Equatable, Sendable {
    /// There is no SDL sink downstream.
    case absent
    /// It has not reported its displays yet.
    case unknown
    /// Its displays in its order of preference; empty when it accepts any size.
    case displays([VideoDisplay])
  }

  /// The app's ranges.
  public let ranges: VideoRanges
  /// What is known of the head unit.
  public let headUnit: HeadUnit
  /// The head unit's displays; empty when they are unknown too.
  public let displays: [VideoDisplay]
  /// Displays that the ranges accept, in the head unit's order.
  public let acceptedDisplays: [VideoDisplay]

  /// Evaluates `ranges` for every display of `headUnit`.
  public init(ranges: VideoRanges, headUnit: HeadUnit = .absent) {
    self.ranges = ranges
    self.headUnit = headUnit
    if case .displays(let displays) = headUnit { self.displays = displays } else { displays = [] }
    acceptedDisplays = displays.filter { ranges.evaluate($0).isAccepted }
  }

  /// Whether the head unit has displays, but none that the app supports.
  public var supportsNone: Bool { !displays.isEmpty && acceptedDisplays.isEmpty }

  /// Whether every size may pass.
  public var acceptsEverything: Bool { ranges.isUnlimited || headUnit == .unknown || supportsNone }

  /// Whether pictures of `size` may pass.
  public func accepts(_ size: VideoSize) -> Bool { acceptsEverything || supports(size) }

  /// Whether the app supports pictures of `size`: because they are those of an accepted display or, if no display has
  /// that size, because the ranges accept it by itself.
  public func supports(_ size: VideoSize) -> Bool {
    if acceptedDisplays.contains(where: { $0.streamSize == size }) { return true }
    return !displays.contains { $0.streamSize == size } && ranges.evaluate(size).isAccepted
  }

  /// Why pictures of `size` may not pass, as texts for a warning; empty if they may.
  public func rejectionReasons(for size: VideoSize) -> [String] {
    guard !accepts(size) else { return [] }
    let candidates = displays.filter { $0.streamSize == size }
    return (candidates.isEmpty ? [VideoDisplay(size: size)] : candidates).compactMap { display in
      let result = ranges.evaluate(display)
      return result.isAccepted ? nil : "\(display): \(result)"
    }
  }
}
