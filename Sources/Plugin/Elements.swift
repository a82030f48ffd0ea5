import GStreamerKit

// The registrations for the plugin's entry point, which is written in C. `@c` is of Swift 6.3.

@_cdecl("gst_sdl_video_sink_get_type")
package func videoSinkType() -> GType { VideoSink.type }

@_cdecl("gst_sdl_audio_sink_get_type")
package func audioSinkType() -> GType { AudioSink.type }

@_cdecl("gst_sdl_range_filter_get_type")
package func rangeFilterType() -> GType { RangeFilter.type }

@_cdecl("gst_sdl_head_unit_src_get_type")
package func headUnitSourceType() -> GType { HeadUnitSource.type }

@_cdecl("gst_sdl_head_unit_audio_src_get_type")
package func headUnitAudioSourceType() -> GType { HeadUnitAudioSource.type }

@_cdecl("gst_sdl_car_window_src_get_type")
package func carWindowSourceType() -> GType { CarWindowSource.type }

@_cdecl("gst_sdl_device_provider_get_type")
package func deviceProviderType() -> GType { HeadUnitDevices.providerType }
