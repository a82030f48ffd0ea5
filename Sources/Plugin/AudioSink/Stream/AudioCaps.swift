import GStreamerKit
import SDLApp

/// Why caps that the core is about to refuse can't be used.
enum AudioCaps {
  private static let advice = "put audioconvert ! audioresample before sdlaudiosink"

  /// Nil when they can be used.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = StructureView(caps: caps, 0) else { return nil }
    guard structure.hasName("audio/x-raw") else {
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(structure.name) can't be played: sdlaudiosink takes raw sound (put decodebin and audioconvert before it).")
    }
    guard PCMFormat(structure) == nil else { return nil }
    let format = structure.string("format") ?? "unknown"
    let (rate, channels) = (structure.integer("rate") ?? 0, structure.integer("channels") ?? 0)
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "Head units play one channel of S16LE or U8 at 8000, 16000, 22000 or 44000 Hz, but the input is \(format) at \(rate) Hz with \(channels) channel(s): \(advice)."
    )
  }
}
