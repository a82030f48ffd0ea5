import GStreamerKit
import SDLMessages

/// SDL's audio formats as caps: `audio/x-raw`, one channel, interleaved.
extension PCMFormat {
  /// The format of `audio/x-raw` caps; nil for one that SDL does not have.
  init?(_ structure: StructureView) {
    guard structure.hasName("audio/x-raw"), structure.integer("channels") == 1,
      structure.string("layout") ?? "interleaved" == "interleaved",
      let rate = SamplingRate.allCases.first(where: { structure.integer("rate") == Int32($0.hertz) }),
      let size = SampleSize.allCases.first(where: { structure.string("format") == $0.formatName })
    else { return nil }
    self.init(samplingRate: rate, sampleSize: size)
  }

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
