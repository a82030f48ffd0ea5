import CX264

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
    switch x264_param_parse(pointer, name, value) {
    case 0: break
    case X264_PARAM_BAD_NAME: throw .unknownOption(name: name)
    case X264_PARAM_ALLOC_FAILED: throw .openFailed("out of memory.")
    default: throw .badOptionValue(name: name, value: value)
    }
    if let reason = StreamRule.violation(of: StreamRule.beforeOpening, in: pointer) {
      throw .forbiddenOption(name: name, reason: reason)
    }
  }

  /// Options that a setting would silently override, or that only the program x264 has.
  private static let optionsSetElsewhere = [
    "bitrate": "set the bit rate itself",
    "vbv-maxrate": "it follows the bit rate",
    "vbv-bufsize": "it follows the bit rate",
    "keyint": "set the key-frame interval itself",
    "threads": "set the number of threads itself",
    "fps": "the frame rate is that of the pictures",
    "fullrange": "the colour range is that of the pictures",
    "colorprim": "the colour primaries are those of the pictures",
    "transfer": "the transfer characteristics are those of the pictures",
    "colormatrix": "the colour matrix is that of the pictures",
    "log": "set the log level itself",
    "preset": "set the speed preset itself",
    "tune": "the tuning is always zerolatency",
    "profile": "the profile is always constrained baseline",
  ]
}
