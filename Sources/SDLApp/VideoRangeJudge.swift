/// Judges sizes of pictures by the app's ranges and by what is known of the head unit.
public struct VideoRangeJudge: Equatable, Sendable {
  public var ranges: VideoRanges
  /// What the head unit can show; empty while that is unknown, and with other sinks.
  public var displays: [VideoDisplay]

  /// Memberwise.
  public init(ranges: VideoRanges, displays: [VideoDisplay]) {
    self.ranges = ranges
    self.displays = displays
  }

  /// Displays that the ranges accept, in the head unit's order.
  public var survivors: [VideoDisplay] { displays.filter { ranges.verdict(on: $0).isAccepted } }

  /// Whether no display of a known head unit is left, so that no picture would be of use.
  public var isHopeless: Bool { !displays.isEmpty && survivors.isEmpty }

  /// Whether pictures of `size` may pass: as those of a display that survives or, if the head unit has no such display,
  /// by themselves.
  public func accepts(_ size: VideoSize) -> Bool {
    let shown = displays.filter { $0.streamSize == size }
    guard !shown.isEmpty else { return !isHopeless && ranges.verdict(on: size).isAccepted }
    return shown.contains { ranges.verdict(on: $0).isAccepted }
  }

  /// Why pictures of `size` may not pass, for people; empty if they may.
  public func objections(to size: VideoSize) -> [String] {
    guard !accepts(size) else { return [] }
    let shown = displays.filter { $0.streamSize == size }
    guard shown.isEmpty else { return objections(to: shown) }
    return objections(to: [VideoDisplay(size: size)])
  }

  /// Why none of the head unit's displays is left; empty if there is one.
  public var objections: [String] { isHopeless ? objections(to: displays) : [] }

  private func objections(to displays: [VideoDisplay]) -> [String] {
    displays.compactMap { display in
      let verdict = ranges.verdict(on: display)
      return verdict.isAccepted ? nil : "\(display): \(verdict)"
    }
  }
}
