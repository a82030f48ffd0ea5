import CX264

/// A condition on x264's parameters, for a stream that any head unit decodes picture by picture: constrained baseline,
/// no delay, Annex B with parameter sets before every key frame, at the agreed rate.
///
/// Rules check the parameters and not option names, so that they hold for every spelling that x264 accepts.
struct StreamRule: Sendable {
  /// Completes the sentence “The option can't be used here: …”.
  let reason: String
  let holds: @Sendable (borrowing x264_param_t) -> Bool

  private init(_ reason: String, _ holds: @escaping @Sendable (borrowing x264_param_t) -> Bool) {
    self.reason = reason
    self.holds = holds
  }

  /// The first reason why `parameters` can't be used.
  static func violation(of rules: [StreamRule], in parameters: UnsafePointer<x264_param_t>) -> String? {
    rules.first { !$0.holds(parameters.pointee) }?.reason
  }

  /// Rules for the parameters while they are put together.
  static let beforeOpening =
    always + [
      StreamRule("the level follows from size, frame rate and bit rate") { $0.i_level_idc == -1 },
      StreamRule("threads that work on different pictures delay each of them") { $0.b_sliced_threads == 1 },
    ]

  /// Rules for the parameters as x264 reports them after it opened.
  static let afterOpening =
    always + [
      StreamRule("threads that work on different pictures delay each of them") {
        $0.b_sliced_threads == 1 || $0.i_threads == 1
      }
    ]

  private static let always = profile + delay + format + rate + files

  private static let profile = [
    StreamRule("the baseline profile has no arithmetic coding") { $0.b_cabac == 0 },
    StreamRule("the baseline profile has no 8×8 transform") { $0.analyse.b_transform_8x8 == 0 },
    StreamRule("the baseline profile has no weighted prediction") { $0.analyse.i_weighted_pred <= 0 },
    StreamRule("the baseline profile has no scaling matrices") {
      $0.i_cqm_preset == X264_CQM_FLAT && $0.psz_cqm_file == nil
    },
    StreamRule("the baseline profile has no interlaced pictures") { $0.b_interlaced == 0 && $0.b_fake_interlaced == 0 },
    StreamRule("AVC-Intra is not the baseline profile") { $0.i_avcintra_class == 0 },
    StreamRule("Blu-ray streams have access unit delimiters and timing messages") { $0.b_bluray_compat == 0 },
  ]

  private static let delay = [
    StreamRule("B-frames are not in the baseline profile and delay pictures") {
      $0.i_bframe == 0 && $0.i_bframe_pyramid == X264_B_PYRAMID_NONE
    },
    StreamRule("a look-ahead delays pictures") { $0.rc.i_lookahead == 0 && $0.i_sync_lookahead == 0 },
    StreamRule("the macroblock tree needs a look-ahead, which delays pictures") { $0.rc.b_mb_tree == 0 },
    StreamRule("OpenCL serves the look-ahead, which is off") { $0.b_opencl == 0 },
  ]

  private static let format = [
    StreamRule("the head unit needs start codes") { $0.b_annexb == 1 },
    StreamRule("every key frame needs its parameter sets") { $0.b_repeat_headers == 1 },
    StreamRule("a key frame must begin with the sequence parameter set") { $0.b_aud == 0 },
    StreamRule("a decoder can start at IDR pictures only") { $0.b_intra_refresh == 0 && $0.b_open_gop == 0 },
    StreamRule("the stream must have the size of the pictures") {
      $0.crop_rect.i_left == 0 && $0.crop_rect.i_top == 0 && $0.crop_rect.i_right == 0 && $0.crop_rect.i_bottom == 0
    },
    StreamRule("the pictures are not stereoscopic") { $0.i_frame_packing == -1 },
  ]

  private static let rate = [
    StreamRule("the rate control follows the bit rate, which a head unit may change") {
      $0.rc.i_rc_method == X264_RC_ABR
    },
    StreamRule("the frame rate is constant") { $0.b_vfr_input == 0 },
    StreamRule("buffer descriptions in the stream become wrong when the bit rate changes") {
      $0.i_nal_hrd == X264_NAL_HRD_NONE
    },
    StreamRule("a live stream has no frame numbers to count zones with") { $0.rc.psz_zones == nil },
  ]

  private static let files = [
    StreamRule("a live stream has a single pass") { $0.rc.b_stat_read == 0 && $0.rc.b_stat_write == 0 },
    StreamRule("the encoder writes no files") { $0.psz_dump_yuv == nil && $0.psz_clbin_file == nil },
  ]
}
