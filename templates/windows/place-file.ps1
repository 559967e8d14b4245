# Moves the transferred file Source to Target if its SHA-256 is Sha256. Otherwise deletes Source and keeps
# the file at Target. Access: private (SYSTEM and administrators) or inherited (from Target's folder).
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Source,
    [Parameter(Mandatory = $true)][string]$Target,
    [Parameter(Mandatory = $true)][string]$Sha256,
    [Parameter(Mandatory = $true)][ValidateSet('private', 'inherited')][string]$Access
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Set-PrivateAccess([string]$Path) {
    Invoke-Native -Exe 'icacls.exe' -Arguments @($Path, '/inheritance:r', '/grant:r', '*S-1-5-18:F', '/grant:r', '*S-1-5-32-544:F') | Out-Null
}
try {
    $found = Get-FileSha256 -Path $Source
    if ($found -ne $Sha256) { throw "what arrived for $Target has the SHA-256 $found instead of $Sha256; the old file stays" }
    if (Test-Path -LiteralPath $Target -PathType 'Container') { throw "$Target is a folder" }
    $folder = Split-Path -Path $Target -Parent
    if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType 'Directory' -Path $folder -Force | Out-Null }
    # A file that is replaced keeps its access rules: a secret must not come under those of a readable one.
    if ($Access -eq 'private' -and (Test-Path -LiteralPath $Target)) { Set-PrivateAccess -Path $Target }
    Move-FileOver -Source $Source -Target $Target
}
finally {
    if (Test-Path -LiteralPath $Source) { Remove-Item -LiteralPath $Source -Force }
}
# A file that is moved keeps what it had: of the private folder that it came from.
if ($Access -eq 'inherited') { Invoke-Native -Exe 'icacls.exe' -Arguments @($Target, '/reset') | Out-Null }
else { Set-PrivateAccess -Path $Target }
Write-Result -Value $true
