/// The trade between processor time and quality. Numbers and nicks are those of the `speed-preset` property
/// of GStreamer's x264enc, so that a setting moves from one element to the other unchanged.
public enum SpeedPreset: Int32, CaseIterable, Sendable {
  /// x264's own defaults, which are those of `medium`.
  case none = 0
  case ultrafast
  case superfast
  case veryfast
  case faster
  case fast
  case medium
  case slow
  case slower
  case veryslow
  case placebo

  /// The name in a pipeline description. x264enc spells the first one with a capital letter.
  public var nick: String { x264Name ?? "None" }

  /// What `x264_param_default_preset` calls it; nil asks it for no preset.
  var x264Name: String? {
    self == .none ? nil : "\(self)"
  }
}
