#!/bin/bash
# Runs as root after the deb or rpm was unpacked; idempotent, so that an upgrade runs it again.
set -e
app='/opt/${sanitizedProductName}'
ln -sfn "$app/${executable}" '/usr/bin/${executable}'

# Chromium's sandbox wants user namespaces; only where the kernel has none for ordinary users is its set-uid helper needed.
if [ "$(cat /proc/sys/kernel/unprivileged_userns_clone 2>/dev/null || echo 1)" = 1 ] && [ "$(cat /proc/sys/user/max_user_namespaces 2>/dev/null || echo 0)" -gt 0 ]; then
  chmod 0755 "$app/chrome-sandbox"
else
  chmod 4755 "$app/chrome-sandbox"
fi

# Where AppArmor keeps user namespaces from programs without a profile (Ubuntu 24.04 and later), this one has a profile that grants them.
profile="$app/resources/apparmor-profile"
if [ -f "$profile" ] && [ -d /etc/apparmor.d ] && command -v apparmor_parser >/dev/null 2>&1 && apparmor_parser --skip-kernel-load --skip-cache "$profile" >/dev/null 2>&1; then
  cp -f "$profile" '/etc/apparmor.d/${executable}'
  apparmor_parser --replace --skip-cache '/etc/apparmor.d/${executable}' >/dev/null 2>&1 || true
fi

if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database -q /usr/share/applications || true; fi
exit 0
