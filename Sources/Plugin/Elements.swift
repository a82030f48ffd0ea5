import GStreamerKit

// The registrations for the plugin's entry point, which is written in C.

@c(gst_sdl_video_sink_get_type)
package func videoSinkType() -> GType { VideoSink.type }

@c(gst_sdl_audio_sink_get_type)
package func audioSinkType() -> GType { AudioSink.type }

@c(gst_sdl_range_filter_get_type)
package func rangeFilterType() -> GType { RangeFilter.type }

@c(gst_sdl_head_unit_src_get_type)
package func headUnitSourceType() -> GType { HeadUnitSource.type }

@c(gst_sdl_head_unit_audio_src_get_type)
package func headUnitAudioSourceType() -> GType { HeadUnitAudioSource.type }

@c(gst_sdl_car_window_src_get_type)
package func carWindowSourceType() -> GType { CarWindowSource.type }

@c(gst_sdl_device_provider_get_type)
package func deviceProviderType() -> GType { HeadUnitDevices.providerType }
