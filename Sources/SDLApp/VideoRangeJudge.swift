/// Judges sizes of pictures by the app's ranges and by what is known of the head unit.
///
/// Where an SDL sink is downstream it has the last word, and says so to people: as long as its head unit has not spoken,
/// and when none of the head unit's displays is supported, everything passes.
public struct VideoRangeJudge: Equatable, Sendable {
  /// What is known of the head unit.
  public enum HeadUnit: Equatable, Sendable {
    /// There is no SDL sink.
    case none
    /// It has not said what it can show.
    case silent
    /// Empty when it takes any size.
    case displays([VideoDisplay])
  }

  public let ranges: VideoRanges
  public let headUnit: HeadUnit
  /// What the head unit can show, as far as that is known.
  public let displays: [VideoDisplay]
  /// Displays that the ranges accept, in the head unit's order.
  public let survivors: [VideoDisplay]

  /// Judges all displays.
  public init(ranges: VideoRanges, headUnit: HeadUnit = .none) {
    self.ranges = ranges
    self.headUnit = headUnit
    if case .displays(let displays) = headUnit { self.displays = displays } else { displays = [] }
    survivors = displays.filter { ranges.verdict(on: $0).isAccepted }
  }

  /// Whether no display of a known head unit is left, so that no picture would be of use.
  public var isHopeless: Bool { !displays.isEmpty && survivors.isEmpty }

  /// Whether nothing is refused.
  public var passesAll: Bool { ranges.isUnlimited || headUnit == .silent || isHopeless }

  /// Whether pictures of `size` may pass.
  public func accepts(_ size: VideoSize) -> Bool { passesAll || supports(size) }

  /// Whether the app supports pictures of `size`: as those of a display that survives or, if the head unit has no such
  /// display, by themselves.
  public func supports(_ size: VideoSize) -> Bool {
    if survivors.contains(where: { $0.streamSize == size }) { return true }
    return !displays.contains { $0.streamSize == size } && ranges.verdict(on: size).isAccepted
  }

  /// Why pictures of `size` may not pass, for people; empty if they may.
  public func objections(to size: VideoSize) -> [String] {
    guard !accepts(size) else { return [] }
    let shown = displays.filter { $0.streamSize == size }
    return objections(to: shown.isEmpty ? [VideoDisplay(size: size)] : shown)
  }

  private func objections(to displays: [VideoDisplay]) -> [String] {
    displays.compactMap { display in
      let verdict = ranges.verdict(on: display)
      return verdict.isAccepted ? nil : "\(display): \(verdict)"
    }
  }
}
