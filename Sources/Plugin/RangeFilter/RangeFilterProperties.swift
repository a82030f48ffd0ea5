import GStreamerKit
import SDLApp

/// The properties of the children `landscape` and `portrait`. In each of them 0 is no bound.
///
/// The types allow any number, so that an invalid one is refused with a reason instead of being clamped by GObject.
extension RangeChild: PropertyOwner {
  static let properties: PropertyList<RangeChild> = [
    .boolean("enabled", \.isEnabled, "Enabled", "Whether the app supports this orientation at all", .mutablePlaying) {
      $0.rangeChanged()
    },
    side(
      "min-width", \.minimumWidth, "Minimum width", "Least width of the pictures, in pixels; 0 is no bound"),
    side(
      "min-height", \.minimumHeight, "Minimum height", "Least height of the pictures, in pixels; 0 is no bound"),
    side(
      "max-width", \.maximumWidth, "Maximum width", "Largest width of the pictures, in pixels; 0 is no bound"),
    side(
      "max-height", \.maximumHeight, "Maximum height", "Largest height of the pictures, in pixels; 0 is no bound"),
    number(
      "min-diagonal", \.minimumDiagonal, "Minimum diagonal",
      "Least diagonal of the display, in inches; 0 is no bound. A head unit that does not tell its diagonal passes"),
    number(
      "min-aspect-ratio", \.minimumAspectRatio, "Minimum aspect ratio",
      "Least longer side ÷ shorter side of the display, from 1 on; 0 is no bound"),
    number(
      "max-aspect-ratio", \.maximumAspectRatio, "Maximum aspect ratio",
      "Largest longer side ÷ shorter side of the display, from 1 on; 0 is no bound"),
  ]

  private static func side(
    _ name: PropertyName, _ bound: WritableKeyPath<VideoRange, Int?> & Sendable, _ nick: StaticString,
    _ blurb: StaticString
  ) -> Property<RangeChild> {
    .integer(name, \.[pixels: bound], .min ... .max, nick, blurb, .mutablePlaying) { $0.rangeChanged() }
  }

  private static func number(
    _ name: PropertyName, _ bound: WritableKeyPath<VideoRange, Double?> & Sendable, _ nick: StaticString,
    _ blurb: StaticString
  ) -> Property<RangeChild> {
    .double(name, \.[number: bound], -.infinity ... .infinity, nick, blurb, .mutablePlaying) { $0.rangeChanged() }
  }

  static func check(_ range: VideoRange) throws(InvalidPropertyValue) {
    do { try range.validate() } catch { throw InvalidPropertyValue(error.description) }
  }
}

extension VideoRange: PropertySettings {
  /// A bound in pixels as its property has it.
  fileprivate subscript(pixels bound: WritableKeyPath<VideoRange, Int?>) -> Int32 {
    get { Int32(clamping: self[keyPath: bound] ?? 0) }
    set { self[keyPath: bound] = newValue == 0 ? nil : Int(newValue) }
  }

  /// A bound in inches, or of a ratio, as its property has it.
  fileprivate subscript(number bound: WritableKeyPath<VideoRange, Double?>) -> Double {
    get { self[keyPath: bound] ?? 0 }
    set { self[keyPath: bound] = newValue == 0 ? nil : newValue }
  }
}
