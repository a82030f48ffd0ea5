import CX264
import Glibc

/// The parameters that x264 opens with, and the strings in them.
///
/// They are set in x264enc's order: preset and tuning, then the option string, then explicit settings. The stream's
/// requirements are set first, and no option may change them.
struct EncoderParameters: ~Copyable {
  let pointer: UnsafeMutablePointer<x264_param_t>

  init(preset: SpeedPreset) throws(EncoderError) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: x264_param_t())
    // Fills in x264's defaults first, even if it does not know a name.
    let result = x264_param_default_preset(pointer, preset.x264Name, "zerolatency")
    guard result == 0, x264_param_apply_profile(pointer, "baseline") == 0 else {
      throw .openFailed("this build lacks the preset \(preset.nick), the tuning zerolatency or the profile baseline.")
    }
    pointer.pointee.i_bframe_pyramid = X264_B_PYRAMID_NONE
    pointer.pointee.b_annexb = 1
    pointer.pointee.b_repeat_headers = 1
    pointer.pointee.b_aud = 0
    pointer.pointee.rc.i_rc_method = X264_RC_ABR
    // Finer steps than this (about 39 dB) are hardly seen, but a still spends all its bits on them and then lacks them
    // for its next key frame: a still map at 600 kbit/s drops 10 dB at each without the limit, and 0.4 dB at less than
    // half the bits with it. The option `qpmin` changes it.
    pointer.pointee.rc.i_qp_min = 22
  }

  deinit {
    x264_param_cleanup(pointer)
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  func apply(_ settings: EncoderSettings) {
    pointer.pointee.i_width = Int32(clamping: settings.width)
    pointer.pointee.i_height = Int32(clamping: settings.height)
    pointer.pointee.i_csp = settings.pixelFormat.x264ColourSpace
    pointer.pointee.i_bitdepth = 8
    let frameRate = settings.frameRate.sharing
    pointer.pointee.i_fps_num = UInt32(clamping: frameRate.numerator)
    pointer.pointee.i_fps_den = UInt32(clamping: frameRate.denominator)
    // One tick per frame: the stream's timing information is made from this.
    pointer.pointee.i_timebase_num = pointer.pointee.i_fps_den
    pointer.pointee.i_timebase_den = pointer.pointee.i_fps_num
    // The interval is counted in X264Encoder. A limit of x264's own would run out with the picture that is to be a key
    // frame; x264 then decides itself, and warns about each that the forced type was changed. Nor may it make a key
    // frame of a repetition.
    pointer.pointee.i_keyint_max = X264_KEYINT_MAX_INFINITE
    // x264's own default, derived from its limit: closer to a key frame, a change of scene makes no other.
    if pointer.pointee.i_keyint_min == X264_KEYINT_MIN_AUTO {
      pointer.pointee.i_keyint_min = max(settings.keyFrameDistance / 10, 1)
    }
    pointer.pointee.i_threads = Int32(clamping: settings.threadCount)
    pointer.setRate(settings.bitrate, bufferSize: settings.vbvBufferSize(settings.rates))
    if let color = settings.color {
      // H.273 says 3 is reserved, and matrix 0 is for RGB and XYZ in 4:4:4.
      pointer.pointee.vui.i_colorprim = color.colourPrimaries.code(in: 1...12)
      pointer.pointee.vui.i_transfer = color.transferCharacteristics.code(in: 1...18)
      pointer.pointee.vui.i_colmatrix = color.matrixCoefficients.code(in: 1...14)
      pointer.pointee.vui.b_fullrange = color.isFullRange ? 1 : 0
    }
  }
}

extension UnsafeMutablePointer<x264_param_t> {
  /// Equal target and maximum put x264 in its constant bit rate mode, where the target can change later.
  func setRate(_ bitrate: Int, bufferSize: Int32) {
    pointee.rc.i_bitrate = Int32(clamping: bitrate)
    pointee.rc.i_vbv_max_bitrate = Int32(clamping: bitrate)
    pointee.rc.i_vbv_buffer_size = bufferSize
  }
}

extension Int {
  fileprivate func code(in known: ClosedRange<Int>) -> Int32 {
    known.contains(self) && self != 3 ? Int32(truncatingIfNeeded: self) : 2
  }
}

extension EncoderParameters {
  /// Sets options given as `name=value:name=value`; a name alone means true.
  ///
  /// Every option is checked by itself, so that the error names the one at fault. Empty entries are skipped.
  func apply(optionString: String) throws(EncoderError) {
    for entry in optionString.split(separator: ":") {
      let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1]) : nil
      try apply(option: String(parts[0]), value: value)
    }
  }

  private func apply(option name: String, value: String?) throws(EncoderError) {
    if let reason = Self.optionsSetElsewhere[String(name.map { $0 == "_" ? "-" : $0 })] {
      throw .forbiddenOption(name: name, reason: reason)
    }
    switch Self.inTheCLocale({ x264_param_parse(pointer, name, value) }) {
    case 0: break
    case X264_PARAM_BAD_NAME: throw .unknownOption(name: name)
    case X264_PARAM_ALLOC_FAILED: throw .openFailed("out of memory.")
    default: throw .badOptionValue(name: name, value: value)
    }
    if let reason = StreamRule.violation(of: StreamRule.beforeOpening, in: pointer) {
      throw .forbiddenOption(name: name, reason: reason)
    }
  }

  /// libx264 reads numbers as the locale of the calling thread writes them, whose decimal point may be a comma.
  private static func inTheCLocale<Result>(_ body: () -> Result) -> Result {
    guard let locale = newlocale(LC_NUMERIC_MASK, "C", nil) else { return body() }
    let former = uselocale(locale)
    defer {
      uselocale(former)
      freelocale(locale)
    }
    return body()
  }

  /// Options that a setting would silently override, or that only the program x264 has.
  private static let optionsSetElsewhere = [
    "bitrate": "set the bit rate itself",
    "vbv-maxrate": "it follows the bit rate",
    "vbv-bufsize": "it follows the bit rate",
    "keyint": "set the key-frame interval itself",
    "threads": "set the number of threads itself",
    "fps": "the frame rate follows the pictures",
    "fullrange": "the colour range follows the pictures",
    "colorprim": "the colour primaries follow the pictures",
    "transfer": "the transfer characteristics follow the pictures",
    "colormatrix": "the colour matrix follows the pictures",
    "log": "set the log level itself",
    "preset": "set the speed preset itself",
    "tune": "the tuning is always zerolatency",
    "profile": "the profile is always constrained baseline",
  ]
}
