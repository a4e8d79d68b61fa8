/** Whether a file of that name is part of a release: packages, what updaters read, and the bill of materials. */
export function isPublished(name: string): boolean {
  return /\.(deb|rpm|AppImage|tar\.gz|dmg|zip|exe|blockmap)$/.test(name) || /^latest.*\.yml$/.test(name) || name.endsWith('.cdx.json')
}
