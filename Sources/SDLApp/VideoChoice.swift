/// Which of the head unit's displays are left when upstream's ranges have been heard; the first one is streamed.
public struct VideoChoice: Equatable, Sendable {
  /// What the head unit can show, in its order; empty when it takes any size.
  public let displays: [VideoDisplay]
  /// Those that the ranges accept, in the same order.
  public let survivors: [VideoDisplay]
  /// Those that they reject, with the reason.
  public let rejections: [Rejection]

  /// A display that is not streamed.
  public struct Rejection: Equatable, Sendable, CustomStringConvertible {
    public var display: VideoDisplay
    /// The first failing test with both numbers, for people.
    public var reason: String

    /// "800×480, 8.0 in: width 800 is above landscape::max-width 700".
    public var description: String { "\(display): \(reason)" }
  }

  /// - Parameter reasons: why displays are rejected, by their index.
  public init(_ displays: [VideoDisplay], reasons: [Int: String] = [:]) {
    self.displays = displays
    var survivors: [VideoDisplay] = []
    var rejections: [Rejection] = []
    for (index, display) in displays.enumerated() {
      if let reason = reasons[index] {
        rejections.append(Rejection(display: display, reason: reason))
      } else {
        survivors.append(display)
      }
    }
    self.survivors = survivors
    self.rejections = rejections
  }

  /// Whether the head unit has displays, but none that the app supports: then nothing is streamed.
  public var isHopeless: Bool { survivors.isEmpty && !displays.isEmpty }

  /// Sizes of the pictures that can be streamed, the first choice first.
  public var sizes: [VideoSize] { survivors.compactMap(\.streamSize) }

  /// Whether the same pictures can be streamed, or can't, whatever else is said of them.
  public func hasSameSizes(as other: VideoChoice) -> Bool { sizes == other.sizes && isHopeless == other.isHopeless }

  /// Whether pictures of `size` can be streamed.
  public func accepts(_ size: VideoSize) -> Bool {
    displays.isEmpty || survivors.contains { $0.streamSize == size }
  }

  /// The display that shows pictures of `size`.
  public func display(streaming size: VideoSize) -> VideoDisplay? { survivors.first { $0.streamSize == size } }

  /// The most rejections that are told in full.
  private static let mostReasons = 100

  /// Why nothing is left, as sentences for people; nil when something is.
  public var objection: String? {
    guard isHopeless else { return nil }
    let told = rejections.prefix(Self.mostReasons).map(\.description).joined(separator: "; ")
    let rest = rejections.count - Self.mostReasons
    return "The app supports none of the head unit's displays: nothing is streamed until one of them changes. \(told)"
      + (rest > 0 ? "; and \(rest) more." : ".")
  }
}
