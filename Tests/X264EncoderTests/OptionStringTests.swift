import Foundation
import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// x264enc's syntax, and the options that are refused.
  @Suite struct OptionString {
    @Test(arguments: [
      "", ":", "subme=4:me=dia:ref=2", "subme=4::ref=1:", "slices=4", "sliced-threads=1", "sliced-threads",
      "no-deblock",
      "deblock=1,1", "qpmin=10:qpmax=40", "sar=1/1", "no_mbtree", "weightp=0", "keyint-min=5", "scenecut=0", "nr=100",
      "vbv-init=0.5", "no-psy", "sps-id=3", "frameref=16", "dpb-size=4", "analyse=all", "constrained-intra",
      "b-adapt=2",
      "filler=1", "pic-struct=1", "stitchable", "lookahead-threads=2", "force-cfr=1", "aud=0", "chromaloc=1",
    ])
    func accepted(options: String) throws {
      try X264Encoder.validate(optionString: options)
      let units = try EncoderSettings.test(64, 64, threads: 0, options: options).encoder().encodePan(0..<2)
      #expect(units[0].types.prefix(2) == [.sequenceParameterSet, .pictureParameterSet])
      #expect(try units[0].sequenceParameterSet().profileIDC == 66)
    }

    /// libx264 reads numbers with the locale of the thread, in which the application's decimal point may be a comma.
    @Test func numbersInACountryWithDecimalCommas() throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("comma"), withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      // LC_NUMERIC as localedef(1) compiles `decimal_point "<U002C>"`.
      let numeric =
        "141103200600000020000000220000002300000024000000280000002c0000002c0000002c00000000000000414e53495f58332e342d3139363800"
      try Data([UInt8](hex: numeric)).write(to: folder.appendingPathComponent("comma/LC_NUMERIC"))
      setenv("LOCPATH", folder.path, 1)
      defer { unsetenv("LOCPATH") }
      let locale = try nonNull(newlocale(LC_NUMERIC_MASK, "comma", nil))
      let former = uselocale(locale)
      defer {
        uselocale(former)
        freelocale(locale)
      }
      try #require(strtod("1,5", nil) == 1.5)
      try X264Encoder.validate(optionString: "ipratio=1.35:vbv-init=0.5:qcomp=0.7")
      #expect(strtod("1,5", nil) == 1.5)
    }

    @Test(arguments: [
      // Not in the baseline profile.
      "cabac=1", "cabac", "no-cabac=0", "8x8dct=1", "weightp=1", "cqm=jvt", "cqmfile=x",
      "cqm4iy=16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16", "interlaced=1",
      "tff=1", "bff=1", "fake_interlaced=1", "avcintra-class=100", "bluray-compat=1",
      // Delay, which the tuning zerolatency is there to avoid.
      "bframes=2", "b-pyramid=strict", "b_pyramid=normal", "rc-lookahead=10", "sync-lookahead=3", "sync-lookahead=auto",
      "mbtree=1", "opencl=1", "sliced-threads=0", "no-sliced-threads",
      // Form of the stream.
      "annexb=0", "no-annexb", "repeat-headers=0", "global-header=1", "aud=1", "open-gop=1", "intra-refresh=1",
      "crop-rect=2,2,2,2", "frame-packing=3", "level=3.1", "level-idc=31",
      // Rate.
      "qp=20", "crf=23", "force-cfr=0", "nal-hrd=cbr", "zones=0,10,q=20", "bitrate=1000", "vbv-maxrate=1000",
      "vbv-bufsize=500", "vbv_bufsize=500", "keyint=infinite", "keyint=60", "fps=30",
      // Files, and options that are settings.
      "pass=1", "pass=2", "dump-yuv=x", "opencl-clbin=x", "threads=4", "log=3", "fullrange=on", "colorprim=bt709",
      "transfer=bt709", "colormatrix=bt709", "preset=slow", "tune=film", "profile=high",
    ])
    func refused(option: String) throws {
      // A valid option before and after it does not hide it.
      let options = "subme=1:\(option):me=dia"
      let name = String(option.prefix { $0 != "=" })
      let error = try #require(throws: EncoderError.self) { try X264Encoder.validate(optionString: options) }
      guard case .forbiddenOption(name, let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(!reason.isEmpty)
      #expect(error.description.contains(name))
      #expect(throws: error) { try EncoderSettings.test(options: options).encoder() }
    }

    @Test(arguments: ["nonsense=1", "=3", "subme=2=3:sub me=1", "no-nonsense"])
    func unknown(options: String) throws {
      let error = try #require(throws: EncoderError.self) { try X264Encoder.validate(optionString: options) }
      switch error {
      case .unknownOption, .badOptionValue: break
      default: Issue.record("\(error)")
      }
    }

    @Test func errorsNameTheOption() {
      #expect(throws: EncoderError.unknownOption(name: "nonsense")) {
        try X264Encoder.validate(optionString: "subme=2:nonsense=1")
      }
      #expect(throws: EncoderError.badOptionValue(name: "me", value: "zigzag")) {
        try X264Encoder.validate(optionString: "me=zigzag")
      }
      #expect(throws: EncoderError.badOptionValue(name: "ref", value: "abc")) {
        try X264Encoder.validate(optionString: "ref=abc")
      }
      #expect(throws: EncoderError.badOptionValue(name: "subme", value: nil)) {
        try X264Encoder.validate(optionString: "subme")
      }
    }

    @Test func optionsHaveAnEffect() throws {
      let unit = try EncoderSettings.test(64, 64, options: "ref=3:sps-id=5").encoder().encodePan(0..<1)[0]
      #expect(try unit.sequenceParameterSet().maximumReferenceFrames == 3)
      #expect(try unit.sequenceParameterSet().id == 5)
    }
  }
}
