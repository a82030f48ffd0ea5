import GStreamerKit
import SDLMessages

/// The sound of SDL as caps: `audio/x-raw`, one channel, interleaved.
extension PCMFormat {
  /// The format that `audio/x-raw` describes; nil for one that SDL does not know.
  init?(_ structure: StructureView) {
    guard structure.hasName("audio/x-raw"), structure.integer("channels") == 1,
      structure.string("layout") ?? "interleaved" == "interleaved",
      let rate = SamplingRate.allCases.first(where: { structure.integer("rate") == Int32($0.hertz) }),
      let size = SampleSize.allCases.first(where: { structure.string("format") == $0.formatName })
    else { return nil }
    self.init(samplingRate: rate, sampleSize: size)
  }

  /// GStreamer's name for the samples.
  var formatName: String { sampleSize.formatName }

  var caps: Caps {
    let structure = Structure("audio/x-raw")
    structure.set("format", formatName)
    structure.set("layout", "interleaved")
    structure.set("rate", Int32(clamping: samplingRate.hertz))
    structure.set("channels", Int32(1))
    return Caps(structure)
  }
}

extension PCMFormat.SampleSize {
  fileprivate var formatName: String {
    switch self {
    case .bits8: "U8"
    case .bits16: "S16LE"
    }
  }
}
