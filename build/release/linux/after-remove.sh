#!/bin/bash
# Runs as root when the package goes. A deb's upgrade says `upgrade` here, an rpm's says 1: the new version's own script has the last word then.
case "$1" in
  remove | purge | 0) ;;
  *) exit 0 ;;
esac
if [ "$(readlink '/usr/bin/${executable}' 2>/dev/null)" = '/opt/${sanitizedProductName}/${executable}' ]; then rm -f '/usr/bin/${executable}'; fi
if [ -f '/etc/apparmor.d/${executable}' ]; then
  apparmor_parser --remove '/etc/apparmor.d/${executable}' >/dev/null 2>&1 || true
  rm -f '/etc/apparmor.d/${executable}'
fi
if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database -q /usr/share/applications || true; fi
echo 'Countersign is removed. What its accounts made stays: tasks, settings and audit log are in ~/.config/Countersign of each.'
exit 0
