# Observes the text of the file Path, and whether the file exists. Never used for a file with secrets.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Path)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$present = Test-Path -LiteralPath $Path -PathType 'Leaf'
$text = ''
if ($present) { $text = Read-Utf8 -Path $Path }
Write-Result -Value @{ present = [bool]$present; text = [string]$text }
