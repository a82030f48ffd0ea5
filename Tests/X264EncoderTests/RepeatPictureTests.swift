import TestSupport
import H264
import Testing

/// A stream whose pictures are repeated.
struct RepeatedStream: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var encoding: FreeEncoding
  var width = 322
  var height = 242

  private static func x264(
    _ name: String, _ profile: String, _ options: [String: String] = [:], explicit: Bool = false, _ width: Int = 322,
    _ height: Int = 242
  ) -> RepeatedStream {
    RepeatedStream(
      testDescription: name,
      encoding: FreeEncoding(profile: profile, options: options, countsOrderExplicitly: explicit),
      width: width, height: height)
  }

  static let all = [
    x264("baseline", "baseline"),
    x264("baseline, slices, references", "baseline", ["slices": "4", "ref": "4"]),
    x264("baseline, no deblocking", "baseline", ["no-deblock": "1"]),
    x264("baseline 16×16", "baseline", [:], 16, 16),
    x264("baseline 960×600", "baseline", ["keyint": "3"], 960, 600),
    x264("main, CAVLC, weights 2", "main", ["cabac": "0", "weightp": "2", "ref": "3"]),
    x264("main, weights 0", "main", ["weightp": "0"]),
    x264("main, weights 1", "main", ["weightp": "1"]),
    x264("main, weights 2", "main", ["weightp": "2", "ref": "4"]),
    x264("main 16×16", "main", [:], 16, 16),
    x264("main 800×480", "main", [:], 800, 480),
    x264("high, slices", "high", ["8x8dct": "1", "slices": "3", "ref": "2"]),
    x264("high, low quantiser", "high", ["8x8dct": "1", "qp": "4"]),
    x264("high, high quantiser", "high", ["qp": "51"]),
    x264("high, delimiters", "high", ["aud": "1"]),
    x264("main, order counts", "main", ["weightp": "2", "ref": "3"], explicit: true),
    x264("main, CAVLC, order counts", "main", ["cabac": "0", "ref": "3"], explicit: true),
    x264("main, HRD", "main", ["nal-hrd": "vbr", "vbv-maxrate": "800", "vbv-bufsize": "800"]),
  ]

  /// A pan that fades, which weighted prediction is for.
  var pictures: [Picture] {
    (0..<14).map { index in
      Panorama.smooth.picture(at: Panorama.pan(index), width: width, height: height).darkened(to: 100 - 4 * index)
    }
  }
}

extension X264EncoderTests {
  @Suite struct RepeatPictures {
    /// H.264 leaves decoders no choice: their pictures are the same.
    static let decoders = [StreamDecoder.standard, "openh264dec"]

    /// The number of repeats after a picture, by its index; 5 is the last one before a key frame.
    static let counts = [0: 1, 2: 2, 5: 10, 6: 2, 9: 1, 10: 10, 13: 2]

    @Test(arguments: RepeatedStream.all)
    func showTheLastPicture(stream: RepeatedStream) throws {
      let units = try stream.encoding.encode(stream.pictures)
      var repeatPicture = RepeatPicture()
      var bytes: [UInt8] = []
      var sources: [Int] = []
      for (index, unit) in units.enumerated() {
        unit.withUnsafeBytes { _ = repeatPicture.observe($0) }
        bytes += unit
        sources.append(index)
        if let count = Self.counts[index] {
          let accessUnit = try #require(repeatPicture.accessUnit())
          #expect(accessUnit.count < 48)
          for _ in 0..<count {
            bytes += accessUnit
            sources.append(index)
          }
        }
      }
      let decoded = try StreamDecoder.decode(
        [(units.flatMap { $0 }, StreamDecoder.standard)] + Self.decoders.map { (bytes, $0) }, width: stream.width,
        height: stream.height)
      let plain = decoded[0]
      try #require(plain.count == units.count)
      for (decoder, repeated) in zip(Self.decoders, decoded.dropFirst()) {
        #expect(repeated.count == sources.count, "\(decoder)")
        #expect(zip(repeated, sources).allSatisfy { $0 == plain[$1] }, "\(decoder)")
      }
    }
  }
}
