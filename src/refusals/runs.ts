/** Runs: locks, actions that were cut off, and changes that are in no confirmed plan. */
export const runPages = {
  locked: {
    title: 'another run holds the lock of a host or of the cluster',
    why: 'Two runs would undo each other. Wait until the other run has ended. If it runs nowhere any more, `kbuild unlock --force` frees the lock.',
  },
  'lock-freed': {
    title: 'the lock of this run was freed by force',
    why: 'Another run may change the hosts now. Look who freed it, then run the same command again.',
  },
  'unplanned-change': {
    title: 'a change is due that was not in the confirmed plan',
    why: 'The host has changed since the plan was confirmed. Run the same command again, and confirm the new plan.',
  },
  'unfinished-action': {
    title: 'an action that was cut off lies on a host, and this command does not finish it',
    why: 'A half-finished join, removal or restore must end before something else begins. Run the command that the message names, then this one again.',
  },
  'unreadable-marker': {
    title: 'the marker of an unfinished action cannot be read',
    why: 'It is corrupt, or a newer kbuild wrote it. Finish the action with the kbuild that began it; if none is under way, delete the file that the message names.',
  },
  'settings-not-applied': {
    title: 'settings were edited and not applied yet',
    why: 'kubeadm would mix them with this change. Apply them with `kbuild up`, then run this command again.',
  },
} as const;
