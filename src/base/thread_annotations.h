#pragma once

// Clang's thread-safety attributes; nothing on other compilers.
#if defined(__clang__)
#define GIMBAL_ATTRIBUTE(x) __attribute__((x))
#else
#define GIMBAL_ATTRIBUTE(x)
#endif

#define CAPABILITY(x) GIMBAL_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY GIMBAL_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) GIMBAL_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) GIMBAL_ATTRIBUTE(pt_guarded_by(x))
#define REQUIRES(...) GIMBAL_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) GIMBAL_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) GIMBAL_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) GIMBAL_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define EXCLUDES(...) GIMBAL_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// For code whose locking the analysis cannot follow; say why beside each use.
#define NO_THREAD_SAFETY_ANALYSIS GIMBAL_ATTRIBUTE(no_thread_safety_analysis)
