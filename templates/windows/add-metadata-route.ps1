# Adds a persistent route to 169.254.169.254, the metadata service of clouds, and writes the file Note, which records
# that kbuild added it.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Note)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
Write-TextFile -Path $Note -Text 'kbuild added a route to 169.254.169.254'
Invoke-Native -Exe 'route.exe' -Arguments @('-p', 'add', '169.254.169.254', 'mask', '255.255.255.255', '0.0.0.0') | Out-Null
Write-Result -Value @{ added = $true }
