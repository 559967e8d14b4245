/** Authorities, certificates and keys. */
export const certificatePages = {
  'authority-changed': {
    title: 'the inventory names another authority than the cluster was made with',
    why: 'Kubernetes cannot change it. Name the own authority of the cluster, or take the setting out.',
  },
  'authority-in-place': {
    title: 'another authority lies on a host than the inventory brings',
    why: [
      'kbuild does not overwrite an authority: certificates of it may be in use. Find out what it is for, or',
      'name it in the inventory.',
    ],
  },
  'authority-missing': {
    title: 'a host does not have the certificate of an authority, or a public key',
    why: 'Copy the file from another control plane.',
  },
  'authority-key-missing': {
    title: 'no host, or not this one, has the key of an authority that must sign',
    why: [
      'The key is lost, or it is kept elsewhere. Bring it back from a backup or another control plane',
      '([docs/operations.md](operations.md)), or name the command that signs (`sign`).',
    ],
  },
  'authority-key-mismatch': {
    title: 'the key of an authority on a host does not belong to its certificate',
    why: 'What it signs is worth nothing. Bring the right key back from a backup or another control plane.',
  },
  'authority-signer': {
    title: 'a key of an authority is there although a command signs, or is not there although no command does',
    why: 'kbuild would sign in another way than before. Correct `sign` and `key` of the authority in the inventory.',
  },
  'authority-ended': {
    title: 'an authority has ended',
    why: 'No client trusts what it signs. Give it a new end first: `kbuild certs renew-ca`.',
  },
  'different-authorities': {
    title: 'hosts hold different authorities of one name',
    why: [
      'Some of them are not trusted. Find out which one is in use, and put it on the other hosts, or finish the',
      'rotation that is under way.',
    ],
  },
  'rotation-under-way': {
    title: 'an authority is being rotated',
    why: [
      'The change would be mixed with the rotation. End it with `kbuild certs rotate-ca`, or take it back with',
      '`--rollback`.',
    ],
  },
  'rotation-order': {
    title: 'a step of a rotation is not possible before an earlier one holds everywhere',
    why: 'A host or a pod would be cut off. Run the same command again: it completes the earlier steps first.',
  },
  'rotation-own-settings': {
    title: 'the inventory says itself where signing keys are, and a rotation must change that',
    why: 'Rotate the keys where they are kept, or take the arguments out and run `kbuild up` first.',
  },
  'rotation-own-authority': {
    title: 'the authority to be rotated is one of yours',
    why: 'kbuild rotates only authorities that it made. Take it out of the inventory if kubeadm may sign from now on.',
  },
  'rotation-key-missing': {
    title: 'a rotation has begun, and no control plane has the key that it needs',
    why: 'Bring the file back from the copies of /etc/kubernetes, or take the rotation back with `--rollback`.',
  },
  'foreign-rotation': {
    title: 'a host trusts several authorities, and no rotation of kbuild is under way',
    why: 'Another tool or person has begun it and must end it: one certificate must be left in the file.',
  },
  'no-rollback': {
    title: 'a rotation has gone too far to be taken back',
    why: [
      'The old authority is no longer trusted everywhere. End the rotation; if you need another one, rotate',
      'again afterwards.',
    ],
  },
  'tokens-in-use': {
    title: 'tokens of service accounts are still in use that the old key has signed',
    why: [
      'Programs that use them would lose the API. Restart the pods or replace the Secrets that the message',
      'names, or wait until the tokens were renewed.',
    ],
  },
  'signing-request': {
    title: 'a host asks for another certificate than it may have',
    why: [
      'kbuild checks every request before your command signs it. Find out why the host asks for it: its request',
      'may have been replaced.',
    ],
  },
  'signing-failed': {
    title: 'the command that signs has failed, or its certificate does not fit the request',
    why: 'Mend the command, then run the same command again.',
  },
  'kubelet-request': {
    title: 'a kubelet asks for a serving certificate with a name or address that is not its own',
    why: [
      'Its holder could answer in the place of another host. Correct the inventory; if the request is not the',
      'kubelet’s, find out who has the key of the node.',
    ],
  },
  'kubelet-certificate-ended': {
    title: 'the node of a host was deleted, and its kubelet has no valid certificate to register again',
    why: 'Run `kbuild remove HOST`, which cleans the host, then `kbuild up`, which joins it again.',
  },
} as const;
